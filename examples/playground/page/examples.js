// Ten examples; the first is that of the appendix of RFC 1738.
export const examples = [
  ["RFC 1738", `   Yes, Jim, I found it under <URL:ftp://info.cern.ch/pub/www/doc;
   type=d> but you can probably pick it up from <URL:ftp://ds.in
   ternic.net/rfc>.  Note the warning in <URL:http://ds.internic.
   net/instructions/overview.html#WARNING>.
`],
  ["Broken by a mailer", `From: ann@list.example
Date: Tue, 3 Mar 1998 09:14:00 +0100
Message-ID: <1998.3@list.example>
Subject: The lamp archive has moved

The whole archive is now at http://archive.list.example/lamps/1997/
catalogue-of-oil-lamps/index.html and will stay there.

The short list is under http://archive.list.example/lamps/short
Please tell others.
`],
  ["A hyphen at a line end", `The report is in <URL:http://www.lab.example/reports/low-
pressure-lamps.html>, an older one in <URL:http://www.lab.example/reports/high-
temperature.html>.
`],
  ["Quoted twice", `Subject: Re: Re: where is it
From: bob@news.example

carol wrote:
> ann wrote:
>> It is under <http://www.library.example/catalogue/
>> lamps/1996.html>, I think.
> Not any more: see ftp://ftp.library.example/pub/lamps.tar.Z;type=i
`],
  ["Quoted-printable HTML", `From: shop@shop.example
Subject: New lamps
MIME-Version: 1.0
Content-Type: text/html; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

<p>See <a href=3D"http://shop.example/item?id=3D17&amp;from=3Dmail">=
our new lamp</a>, or <a href=3D"http://other.example/login">http://bank.ex=
ample/</a>, or <a href=3D"/relative">this</a>.</p>
`],
  ["Defanged", `Do not open hxxp://lamp[.]example/pay, nor hxxps://www[.]lamp[dot]example/x.
`],
  ["Punctuation", `Is it http://a.example/wiki/Lamp_(oil)? (see http://a.example/lamps.)
"http://b.example/x", http://c.example/y; and http://d.example/a,b,c.
`],
  ["Redirectors", `
https://nam02.safelinks.protection.outlook.com/?url=http%3A%2F%2Fwww.lamp.example%2Fnew&data=05
http://web.archive.org/web/19990117000000/http://lamp.example/old.html
`],
  ["Old schemes", `gopher://gopher.example:70/1/lamps, telnet://guest@host.example/,
news:comp.lamps.oil and news:4321@host.example, nntp://news.example/comp.lamps/12,
wais://wais.example/lamps?oil, prosepero://host.example//lamp, mailto:ann@list.example
`],
  ["What is refused", `std::vector http://x and note:this, <http://unclosed.example/
http://www.exam.. and <URL:http://a.example/ http://b.example/>
`],
];
