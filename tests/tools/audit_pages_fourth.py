"""Pages of a Web with known truth, fourth set: other languages, other templates, other wording and other hosts than the third.

By somebody who has not read what judges them. Definitions of the truth: see `audit_pages_third.py`; they are the same here.
"""

import html
import random
import urllib.parse

from audit_sites import Language, Site

LANGUAGES = {
    "en": Language("en", "com org edu net co.nz ca", "gle fair mor bur ash win kel lock wy sher tal brook mac din o fen cal ther vale rick", """
Before {Y} hardly anybody in {P} had heard of a {N}.
This {N} was {V} by {P} and later {V} by the council of {P}.
You can combine the {A} {N} with any {N} you have at home.
{K} people signed the petition about the {N} in {P}.
What makes a {N} {A}? {P} gives {K} answers.
I first saw the {N} in {Y}, and it still looks {A} to me.
Our {N} opens at {K}, but the {N} stays closed on Mondays.
Thanks to {P} for the picture of the {A} {N}.
See also the chapter on the {N}, which {P} wrote for us.
The {A} version was {V} in {Y} and has {K} errors fewer.
Without a {N} there would be no {A} {N}, as {P} put it.
Send your own {N} to {P}; we print the best {K}.
They have never {V} a {N} that was not {A}.
How {P} {V} the {A} {N} is told on the next page.""",
        "painted corrected discovered planted ordered filmed translated edited praised washed polished borrowed donated",
        "green deep modern round southern lovely cheap natural fresh short hidden proud gentle official wild",
        {"pottery": "glaze kiln clay wheel vase tile bowl slip firing workshop studio ornament handle ceramic",
         "rivers": "canal weir paddle current lock bank rapid ferry delta estuary tide mooring barge flood",
         "math": "theorem proof lemma graph integer matrix prime conjecture polynomial topology vector lecture exercise seminar",
         "film": "camera scene actor reel festival screen director montage studio projector premiere script"}),
    "it": Language("it", "it it com eu", "mon te ro val bel ca sa lu go ri no fio ve pa der zi", """
Il {N} di {P} risale al {Y} ed è ancora {A}.
A {P} si {V} ogni anno {K} opere sul tema {N}.
Chi {V} un {N} sa quanto sia {A}.
Non esiste {N} senza {N}, diceva {P}.
Nel {Y} l'associazione {P} {V} il primo {N} della zona.
Vi aspettiamo il {K} del mese per parlare di {N} e di {N}.
La pagina dedicata al {N} è {A}, grazie a {P}.
Per sapere tutto sul {N} bastano {K} minuti.
Secondo {P} nessun {N} è troppo {A}.
Quel {N} {A} che {P} {V} da anni oggi è qui.
Scrivete a {P} se avete un {N} {A}.""",
        "presenta raccoglie restaura pubblica studia espone vende racconta organizza misura",
        "antico raro semplice pubblico nuovo difficile famoso prezioso locale completo fragile",
        {"musica": "violino coro spartito concerto opera tenore liuto maestro teatro sonata organo",
         "montagna": "rifugio sentiero vetta ghiacciaio parete corda valanga alpeggio bivacco cresta nevaio",
         "fumetti": "disegno vignetta tavola eroe editore collana ristampa copertina matita albo"}),
    "nl": Language("nl", "nl nl be org", "van der hof dam berg laan veld zee wijk oost haar lem ber gen vliet", """
De {N} van {P} is sinds {Y} weer {A}.
In {P} {V} men elk jaar {K} stukken over {N}.
Wie een {N} {V}, weet hoe {A} dat kan zijn.
Zonder {N} geen {N}, zei {P} altijd.
Er zijn {K} soorten {N}, en alleen de laatste is {A}.
Heeft u nog een {A} {N}? Stuur een bericht naar {P}.
Op bladzijde {K} leest u waarom {P} de {N} {V}.
Al in {Y} was de {N} zo {A} als nu.
Wij danken {P} voor het lenen van {N} en {N}.
Kom op dag {K} kijken hoe {P} de {N} {V}.""",
        "verzamelt herstelt beschrijft tekent verkoopt bewaart onderzoekt bouwt",
        "oud zeldzaam nieuw eenvoudig groot bekend nuttig lokaal moeilijk stil",
        {"molens": "wieken molenaar graan steen romp kap zolder balk meel wind dijk polder",
         "schaatsen": "ijs baan ijzers rit ronde klassement tocht sprint coach wedstrijd"}),
    "pl": Language("pl", "pl pl com.pl org", "war no wy ra kow ski lub mie dzy gro stra sie bor le ska ło", """
Dawny {N} w miejscowości {P} był {A} do roku {Y}.
Każdego roku {P} {V} ponad {K} prac na temat {N}.
Kto {V} {N}, ten wie, że to {A} zajęcie.
Bez {N} nie ma {N}, mówi {P}.
Od {Y} roku działa u nas {N} oraz {N}.
Na stronie {K} opisano, jak {P} {V} {N}.
Prosimy pisać do {P}, jeśli macie {A} {N}.
Żaden {N} nie jest tak {A} jak ten, który {P} {V}.
Spotkanie odbędzie się dnia {K}, tematem będzie {N}.""",
        "opisuje zbiera naprawia publikuje bada buduje sprzedaje porównuje",
        "stary rzadki nowy prosty trudny pełny znany ważny cichy",
        {"lotnictwo": "samolot szybowiec pilot lotnisko silnik skrzydło hangar lot śmigło kadłub",
         "mikologia": "grzyb zarodnik kapelusz las okaz atlas trzon blaszka koszyk"}),
    "pt": Language("pt", "com.br pt com.br org.br", "san ta ri bei cas te lo nas mon al va par que lis ma ra", """
O {N} de {P} ficou {A} até {Y}.
Todos os anos {P} {V} mais de {K} textos sobre {N}.
Quem {V} um {N} sabe como isso é {A}.
Sem {N} não existe {N}, dizia {P}.
Desde {Y} a sede de {P} recebe {N}, {N} e muito mais.
Se você tem um {N} {A}, escreva para {P}.
Nenhum {N} parece tão {A} quanto o que {P} {V}.
Na página {K} contamos a história do {N}.
São {K} dicas para cuidar do seu {N}.""",
        "apresenta estuda guarda publica vende descreve organiza conserta",
        "antigo raro útil simples novo difícil completo conhecido frágil",
        {"samba": "tamborim enredo desfile bateria cavaquinho fantasia quadra surdo carnaval bloco",
         "pesca": "anzol isca rede barco maré molinete peixe rio linha boia"}),
    "sv": Language("sv", "se se nu com", "sten lund berg vik holm dal ås ö näs by sjö gran hult", """
Föreningens {N} i {P} var {A} fram till {Y}.
Varje år {V} {P} ungefär {K} texter om {N}.
Den som {V} en {N} vet hur {A} det är.
Utan {N} ingen {N}, brukade {P} säga.
Sedan {Y} finns även {N} och {N} hos {P}.
Skriv till {P} om du har en {A} {N}.
På sidan {K} står det hur {P} {V} sin {N}.
Ingen {N} är så {A} som den i {P}.""",
        "samlar beskriver lagar visar säljer ritar mäter",
        "gammal sällsynt ny enkel svår känd viktig",
        {"orientering": "karta kompass kontroll skog bana höjdkurva stafett lopp start",
         "segling": "båt mast vind hamn regatta segel ankare köl skärgård"}),
    "ko": Language("ko", "co.kr kr or.kr com", "가 나 산 강 동 서 원 성 대 한 진 수 정 문 호", """
{P}의 {N}은 {Y}년까지 {A} 곳이었습니다.
{N} 자료는 {P}에서 매년 {K}건씩 {V} 있습니다.
{N} 없이는 {N}도 없다고 {P} 씨는 말합니다.
{Y}년부터 {P}는 {A} {N} 모임을 열고 있습니다.
{A} {N}을 가지고 계시면 {P}에게 연락해 주십시오.
{K}쪽에는 {P}가 {N}을 어떻게 {V} 있는지 나옵니다.
처음이라면 {N}보다 {N}이 더 {A} 편입니다.
다음 모임은 {K}일이며 주제는 {N}입니다.""",
        "모으고 고치고 조사하고 소개하고 기록하고 판매하고",
        "오래된 귀한 새로운 어려운 조용한 유명한 중요한",
        {"서예": "붓 먹 종이 글씨 벼루 전시 서체 낙관 화선지",
         "등산": "정상 능선 계곡 산장 배낭 코스 바위 안내도 야영"}),
    "zh": Language("zh", "cn com.cn com net.cn", "华 山 海 东 文 林 江 云 春 明 龙 新 安 成 德", """
{P}的{N}直到{Y}年都很{A}。
每年{P}都会{V}{K}件与{N}有关的作品。
没有{N}就没有{N},这是{P}常说的话。
从{Y}年起,{P}开始{V}{A}{N}。
如果您有{A}{N},请与{P}联系。
本页第{K}条说明{P}怎样{V}{N}。
初学者应当先了解{N},再学习{N}。
下一次活动在{K}日,主题是{N}。""",
        "收集 修理 介绍 研究 记录 出版 展示",
        "古老的 珍贵的 简单的 著名的 困难的 完整的 安静的",
        {"茶": "绿茶 茶壶 茶园 品种 水温 茶具 红茶 产地 茶叶",
         "围棋": "棋盘 定式 布局 棋手 段位 对局 死活 官子 名局"}, joiner=""),
}

# Words of frames and messages by language. Messages with several wordings have a tuple.
SAY = {
    "en": dict(nav="Start|News|Members|Downloads|Guestbook|Imprint",
        lost=("Sorry, that link doesn't go anywhere|You have followed an old or mistyped link. Nothing lives at this address now.",
               "Error: not found|The content you have requested could not be found on this web site.",
                   "Whoops, lost?|The link you clicked may be broken or the page may have been taken down."),
               gone=("This listing has ended|The seller has ended this listing because the item is no longer available.",
                   "Job closed|This position has been filled and is no longer accepting applications.",
                     "Video unavailable|This video has been taken down by the user who uploaded it."),
                         meant="We could not find {}. Did you mean one of these?",
               user="No such user|The home page of this user has been withdrawn because the account was closed.",
                   record="Error: no record with this number.",
               product="Product not found!|You may also like", login="Sign in|You need to sign in before continuing.",
                   closed="Our site has a new address book. Please update your bookmarks.",
               sale="{} may be for sale|Interested in this premium domain? Submit your best offer today.|Make offer",
                   expired="{} has expired|The registration of this name ended on {}. It will be released soon. Owners can still restore it.",
               related="Popular categories|Ads shown here are not chosen by the registrant."),
    "it": dict(nav="Home|Novità|Soci|Scarica|Libro degli ospiti|Privacy",
        lost=("Pagina non trovata|La pagina richiesta non esiste o è stata spostata.", "Ops!|Il collegamento che hai seguito non è più valido."),
               gone=("Annuncio scaduto|Questo annuncio non è più disponibile: è stato rimosso dall'inserzionista.",),
                   meant="Nessun contenuto per {}. Forse cercavi:", user="Utente inesistente|La pagina personale è stata chiusa.",
               record="Errore: nessun documento con questo numero.", product="Prodotto non trovato|Potrebbe interessarti",
                   login="Accedi|Per proseguire occorre autenticarsi.", closed="Il sito è stato rinnovato.",
               sale="Il dominio {} è in vendita|Ti interessa questo dominio? Invia la tua offerta al proprietario.|Fai un'offerta",
                   expired="Dominio {} scaduto|La registrazione è scaduta il {}. Il titolare può ancora rinnovarla.",
               related="Ricerche correlate|Gli annunci sono generati automaticamente."),
    "nl": dict(nav="Begin|Nieuws|Leden|Bestanden|Gastenboek|Colofon", lost=("Pagina niet gevonden|De pagina die u zoekt bestaat niet (meer).",
        "Oeps|Deze link werkt niet meer. Ga terug naar het begin."),
               gone=("Advertentie verlopen|Deze advertentie is niet meer beschikbaar.", "Vacature gesloten|Deze vacature is vervuld."),
                   meant="Niets gevonden voor {}. Bedoelde u misschien:", user="Onbekende gebruiker|De persoonlijke pagina is opgeheven.",
               record="Fout: geen gegevens met dit nummer.", product="Product niet gevonden|Anderen bekeken ook",
                   login="Inloggen|U moet eerst inloggen.", closed="Onze website is vernieuwd.",
               sale="De domeinnaam {} is te koop|Interesse in deze domeinnaam? Doe een bod.|Bod uitbrengen",
                   expired="{} is verlopen|De registratie van deze domeinnaam is geëindigd op {}.",
                       related="Populaire zoekopdrachten|Advertenties worden automatisch geplaatst."),
    "pl": dict(nav="Start|Aktualności|Członkowie|Pliki|Księga gości|Polityka",
        lost=("Nie znaleziono strony|Strona, której szukasz, nie istnieje lub została przeniesiona.", "Błąd 404|Ups! Tu nic nie ma."),
               gone=("Ogłoszenie nieaktualne|To ogłoszenie zostało zakończone.",), meant="Brak wyników dla {}. Może chodziło o:",
                   user="Brak użytkownika|Strona domowa została usunięta.", record="Błąd: brak rekordu o tym numerze.",
               product="Produkt nie istnieje|Zobacz także", login="Logowanie|Musisz się zalogować.", closed="Mamy nową stronę.",
                   sale="Domena {} jest na sprzedaż|Możesz kupić tę domenę. Złóż ofertę.|Złóż ofertę",
               expired="Domena {} wygasła|Okres abonamentowy domeny minął {}. Abonent może ją odnowić.",
                   related="Popularne wyszukiwania|Reklamy dobierane są automatycznie."),
    "pt": dict(nav="Início|Notícias|Sócios|Arquivos|Livro de visitas|Privacidade",
        lost=("Página não encontrada|A página que você procura não existe ou mudou de endereço.", "Opa!|Este link não leva mais a lugar nenhum."),
               gone=("Anúncio encerrado|Este anúncio não está mais disponível.",), meant="Nada encontrado para {}. Você quis dizer:",
                   user="Usuário inexistente|A página pessoal foi desativada.", record="Erro: registro inexistente.",
               product="Produto não encontrado|Veja também", login="Entrar|É preciso entrar para continuar.", closed="O site mudou.",
                   sale="O domínio {} está à venda|Gostou deste domínio? Faça uma oferta.|Fazer oferta",
               expired="O domínio {} expirou|O registro venceu em {}. O titular ainda pode renovar.",
                   related="Buscas relacionadas|Os anúncios são gerados automaticamente."),
    "sv": dict(nav="Start|Nyheter|Medlemmar|Filer|Gästbok|Om oss", lost=("Sidan kunde inte hittas|Sidan du söker finns inte längre.",),
        gone=("Annonsen borttagen|Den här annonsen finns inte kvar.",), meant="Inga träffar på {}. Menade du:",
               user="Okänd användare|Hemsidan har tagits bort.", record="Fel: posten finns inte.",
                   product="Produkten hittades inte|Andra har även tittat på", login="Logga in|Du måste logga in.", closed="Vi har en ny webbplats.",
               sale="Domänen {} är till salu|Är du intresserad av domänen? Lägg ett bud.|Lägg bud",
                   expired="{} har upphört|Registreringen av domänen gick ut {}.", related="Relaterade sökningar|Annonserna väljs automatiskt."),
    "ko": dict(nav="처음|소식|회원|자료실|방명록|안내", lost=("페이지를 찾을 수 없습니다|요청하신 페이지가 삭제되었거나 주소가 변경되었습니다.",), gone=("종료된 게시물|해당 게시물은 삭제되었거나 판매가 종료되었습니다.",),
        meant="{} 검색 결과가 없습니다. 추천 문서:",
               user="없는 사용자|이 홈페이지는 폐쇄되었습니다.", record="오류: 해당 글이 없습니다.", product="상품이 없습니다|추천 상품", login="로그인|로그인이 필요합니다.", closed="홈페이지가 개편되었습니다.",
               sale="{} 도메인을 판매합니다|이 도메인의 구입을 원하시면 연락 주십시오.|구매 문의", expired="{} 도메인 기간 만료|이 도메인은 {}에 만료되었습니다. 연장하시기 바랍니다.",
                   related="관련 검색어|광고는 자동으로 표시됩니다."),
    "zh": dict(nav="首页|新闻|会员|下载|留言板|关于", lost=("页面不存在|抱歉,您访问的页面已被删除或不存在。", "404错误|您要找的页面走丢了,请返回首页。"), gone=("信息已下线|该信息已过期或被发布者删除。",),
        meant="没有找到 {},您是否要找:",
               user="用户不存在|该个人主页已关闭。", record="错误:记录不存在。", product="商品已下架|猜你喜欢", login="登录|请先登录后再访问。", closed="网站已改版。",
                   sale="域名 {} 正在出售|您正在访问的域名可以转让!有意者请联系。|我要购买",
               expired="域名 {} 已过期|该域名已于 {} 到期,请及时续费。", related="相关搜索|广告由系统自动生成。"),
}


def host_name(rng, language, number):
    coins = LANGUAGES["it" if language.code in ("ko", "zh") else language.code]
    name = "".join(letter for letter in coins.coin(rng).lower() if letter.isascii())
    other = "".join(letter for letter in coins.coin(rng).lower() if letter.isascii())
    letters = "".join("abcdefghij"[int(digit)] for digit in str(number))
    return f"{rng.choice(['www.', 'www.', '', 'web.', 'users.'])}{name}{rng.choice(['-', '', ''])}{other}{letters}.{rng.choice(language.tags)}"


def page(text, status=200, **fields):
    return status, {"Content-Type": "text/html; charset=UTF-8", "Server": "nginx/1.24.0", "X-Content-Type-Options": "nosniff",
        **fields}, text.encode()


def moved(place, status=302):
    return status, {"Location": place, "Content-Type": "text/html",
        "Server": "nginx/1.24.0"}, b"<html>\r\n<head><title>302 Found</title></head>\r\n<body></body>\r\n</html>\r\n"


def say(site, key):
    """A message in the language of the site, always in the same words."""
    text = SAY[site.language.code][key]
    return site.rng("say", key).choice(text) if isinstance(text, tuple) else text


def nav(site, extra=5):
    rng = site.rng("nav")
    own = [(name, f"/{number}") for number, name in enumerate(say(site, "nav").split("|"))]
    nouns = site.language.subjects[site.subject]
    return own + [(noun, f"/{site.slug(rng)}") for noun in rng.sample(nouns, min(extra, len(nouns)))]


def anchors(pairs, around="<li>{}</li>"):
    return "\n".join(around.format(f'<a href="{place}">{html.escape(name)}</a>') for name, place in pairs)


def headlines(site, rng, count):
    return [(site.language.title(rng, site.subject, site.names), f"/{site.slug(rng)}-{rng.randint(10, 9999)}") for _ in range(count)]


def layout_homepage(site, title, body, request):
    return f"""<html>
<head><title>{title}</title><meta name="author" content="{site.name}"><style>body {{ background: #ffffee; margin: 2em }}</style></head>
<body>
{body}
<p align=right><small>{site.name} &middot; {site.rng("counter").randint(1000, 90000) + request.randint(1, 900)} &middot; <a
href="index.html">index</a></small></p>
</body></html>"""


def layout_frames(site, title, body, request):
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="{site.language.code}"><head><title>{title} :: {site.name}</title>
<meta http-equiv="Content-Type" content="text/html; charset=UTF-8" /><link rel="stylesheet" type="text/css" href="/css/screen.css" /></head>
<body><div id="wrapper"><div id="header"><h1><a href="/">{site.name}</a></h1></div><div id="nav"><ul>{anchors(nav(site))}</ul></div>
<div id="content"><h2>{title}</h2>{body}</div><div id="footer">Copyright &copy; 1999-2026 {site.name} | Valid XHTML</div></div></body></html>"""


def layout_drupal(site, title, body, request):
    blocks = "".join(f'<div class="block"><h2>{name}</h2><p>{site.language.sentence(site.rng("block", name), site.subject, site.names)}</p>'
        f'</div>' for name, _ in nav(site)[:5])
    return f"""<!DOCTYPE html><html lang="{site.language.code}" dir="ltr"><head><meta charset="utf-8" />
<meta name="Generator" content="Drupal 10 (https://www.drupal.org)" />
<title>{title} | {site.name}</title>
<link rel="stylesheet" media="all" href="/sites/default/files/css/css_{site.rng("css").getrandbits(96):024x}.css?{request.randint(0, 5)}" /></head>
<body class="path-node"><a href="#main-content" class="visually-hidden focusable">Skip to main content</a><header role="banner">
<a href="/" rel="home">{site.name}</a>
<nav role="navigation"><ul class="menu">{anchors(nav(site, 9))}</ul></nav></header><main role="main"><h1 class="page-title">{title}</h1>{body}</main>
<aside role="complementary">{blocks}</aside><form data-drupal-selector="user-login-form">
<input name="form_build_id" type="hidden" value="form-{request.getrandbits(200):050x}"></form>
<footer role="contentinfo">{site.name}</footer></body></html>"""


def layout_magazine(site, title, body, request):
    rows = headlines(site, site.rng("river"), 14)
    return f"""<!doctype html><html lang="{site.language.code}"><head><meta charset="utf-8"><title>{title} - {site.name}</title>
<meta name="csrf" content="{request.getrandbits(128):032x}">
<script>window.dataLayer=[{{"rid":"{request.getrandbits(64):016x}","t":{1790000000 + request.randrange(10**6)}}}]</script></head><body>
<div class="cookie">{site.name}: cookies <button>OK</button></div>
<header><h3>{site.name}</h3><ul>{anchors(nav(site, 8))}</ul></header><div data-ad="top-{request.randint(1, 99)}"></div><article><h1>{title}</h1>
<div class="meta">{request.randint(0, 23):02}:{request.randint(0, 59):02}</div>{body}</article>
<section class="river">{anchors(rows, "<h4>{}</h4>")}</section>
<footer>{anchors(nav(site, 0), "{}")} © {site.name}</footer></body></html>"""


THEMES = [layout_homepage, layout_frames, layout_drupal, layout_magazine]


def framed(site, title, body, request, theme=None):
    return page((theme or site.theme)(site, title, body, request))


def hard_404(site, path, request):
    if site.rng("hard").random() < 0.6:
        return page("<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found</h1></center>\r\n<hr>"
            "<center>nginx/1.24.0</center>\r\n</body>\r\n</html>\r\n", 404)
    title, text = say(site, "lost").split("|")
    return page(site.theme(site, title, f"<p>{text}</p>", request), 404)


def front(site, request):
    rng = site.rng("front")
    body = "".join(f"<p>{site.language.paragraph(rng, site.subject, site.names, 2, 4)}</p>" for _ in range(3)) + anchors(headlines(site, rng, 5))
    return framed(site, site.name, body, request)


class Fourth(Site):
    paths = ("/{w}/{w}.htm", "/{w}_{k}.html", "/doc/{w}/", "/{w}.asp?nr={k}", "/{y}/{w}.shtml", "/users/{w}/{w}.html")


# Soft 404.


class ErrorAddress(Fourth):
    """A redirect to the error page of the framework, which answers 200."""

    truth, links, alive_share = "soft_404", 6, 0.25

    def missing(self, path, request):
        if path.startswith(("/error", "/404", "/oops")):
            title, text = say(self, "lost").split("|")
            return framed(self, title, f"<p>{text}</p><p><small>Ref. {request.getrandbits(48):012x}</small></p>", request)
        way = self.rng("way").choice(["/error.aspx?aspxerrorpath=", "/404.html", "/oops?u=", "/errors/404.php"])
        return moved(way + (urllib.parse.quote(path) if way.endswith("=") else ""))

    now = missing


class OwnPage(Fourth):
    """A page of the site's own with status 200, with or without the path, and suggestions that change."""

    truth, links, alive_share = "soft_404", 6, 0.25

    def missing(self, path, request):
        title, text = say(self, "lost").split("|")
        rng = self.rng("own")
        echo = f"<pre>GET {html.escape(path)}</pre>" if rng.random() < 0.5 else ""
        lists = anchors(headlines(self, request, 4)) if rng.random() < 0.5 else ""
        head = title if rng.random() < 0.7 else self.name
        return framed(self, head, f"<h2>{title}</h2><p>{text}</p>{echo}<ul>{lists}</ul>", request)

    now = missing


class LanguageFront(Fourth):
    """A redirect to the front page, or to that of a language."""

    truth, links, alive_share = "soft_404", 5, 0.25

    def missing(self, path, request):
        place = self.rng("place").choice(["/", f"/{self.language.code}/", "/index.php", "/?notfound=1"])
        return self.front(request) if path == place else moved(place, self.rng("status").choice([301, 302]))

    now = missing


class Parent(Fourth):
    """What is missing in a folder leads to the page of the folder, and that to a list of what is new."""

    truth, links, alive_share = "soft_404", 4, 0.2
    paths = ("/articles/{w}{k}.html", "/press/{y}/{w}.html")

    def missing(self, path, request):
        if path in ("/articles/", "/press/"):
            return framed(self, f"{self.name}: {path.strip('/')}", anchors(headlines(self, self.rng("list"), 12)), request)
        folder = f"/{path.split('/')[1]}/"
        return moved(folder, 301) if folder in ("/articles/", "/press/") else hard_404(self, path, request)

    now = missing


class Suggestions(Fourth):
    """Under each address that is not there, what a search for its words would find."""

    truth, links, alive_share = "soft_404", 5, 0.2

    def missing(self, path, request):
        terms = path.strip("/").replace("/", " ").replace(".html", "").replace("_", " ")
        found = headlines(self, self.rng("found", path), 7)
        body = "".join(f"<li><a href='{place}'>{name}</a><br>{self.language.sentence(self.rng('abstract', name), self.subject, self.names)}</li>"
            for name, place in found)
        return framed(self, self.name, f"<p>{say(self, 'meant').format(html.escape(terms))}</p><ol>{body}</ol>", request)

    now = missing


class ListingEnded(Fourth):
    """An auction, a job or a film that is over. The server says 404 to what never was."""

    truth, links, alive_share = "soft_404", 6, 0.25
    paths = ("/item/{k}", "/jobs/view.php?id={k}", "/watch?v={w}{k}")

    def now(self, path, request):
        title, text = say(self, "gone").split("|")
        return framed(self, title, f'<div class="notice">{text}</div>{anchors(headlines(self, request, 6))}', request)


class Shell(Fourth):
    """An application of another framework, whose router knows no old address."""

    truth, links = "soft_404", 4

    def missing(self, path, request):
        build = self.rng("build").getrandbits(64)
        if self.rng("framework").random() < 0.5:
            scripts = "".join(f'<script src="{name}.{build:016x}.js" type="module"></script>' for name in ("runtime", "polyfills", "main"))
            root = f'<app-root><div class="spinner"></div></app-root>{scripts}'
        else:
            script = f'<script type="module" crossorigin src="/assets/index-{build:016x}.js"></script>'
            root = f"<noscript><strong>{self.name} doesn't work properly without JavaScript enabled.</strong></noscript><div id=app></div>{script}"
        return page(f'<!DOCTYPE html><html lang="{self.language.code}"><head><meta charset="utf-8"><base href="/"><title>{self.name}</title>'
            f'</head><body>{root}</body></html>')

    now = missing

    def front(self, request):
        return self.missing("/", request)


class UserGone(Fourth):
    """The home page of a member of a university, or of a customer, that is withdrawn. Others are there."""

    truth, links, alive_share = "soft_404", 5, 0.25
    paths = ("/~{w}/", "/~{w}/{w}.html", "/members/{w}{k}/")

    def missing(self, path, request):
        if not path.startswith(("/~", "/members/")):
            return hard_404(self, path, request)
        title, text = say(self, "user").split("|")
        return framed(self, title, f"<p>{text}</p><hr><p>{html.escape(path.split('/')[1])}</p>", request)

    now = missing


class NoRecord(Fourth):
    """A program that prints a line where there is no record."""

    truth, links, alive_share = "soft_404", 4, 0.3
    paths = ("/show.php?nr={k}", "/cgi-bin/view.pl?id={k}", "/detail.cfm?ID={k}")

    def now(self, path, request):
        line = say(self, "record")
        return page(f"<html><head><title>{self.name}</title></head><body>{line}</body>"
            f"</html>") if self.rng("bare").random() < 0.5 else framed(self, self.name, f"<p>{line}</p>", request)


class ProductGone(Fourth):
    """A shop that has other things instead, each time others."""

    truth, links, alive_share = "soft_404", 5, 0.25
    paths = ("/{w}-p-{k}.html", "/shop/{w}/{k}")

    def missing(self, path, request):
        title, like = say(self, "product").split("|")
        goods = "".join(f"<div class='card'><a href='{place}'>{name}</a><b>{request.randint(5, 400)},99</b><button>+</button></div>"
            for name, place in headlines(self, request, 8))
        return framed(self, title, f"<h3>{like}</h3>{goods}", request)

    now = missing


class SignIn(Fourth):
    """What is gone leads to the form for members, as a content management does that hides what it has not. The rest is public."""

    truth, links, alive_share = "soft_404", 4, 0.35

    def missing(self, path, request):
        title, text = say(self, "login").split("|")
        if path.startswith("/account/"):
            return framed(self, title, f'<p>{text}</p><form method=post><input name=user><input name=pass type=password>'
                f'<input type=hidden name=t value="{request.getrandbits(64):x}"></form>', request)
        return moved(f"/account/signin?ReturnUrl={urllib.parse.quote(path, safe='')}")

    now = missing


class JustRenewed(Fourth):
    """A note that all is new, and a way to the front page."""

    truth, links = "soft_404", 4

    def missing(self, path, request):
        return framed(self, self.name, f'<p>{say(self, "closed")}</p><p><a href="/">{say(self, "nav").split("|")[0]}</a></p>', request)

    now = missing


# Parked.


class Held(Fourth):
    truth, links, most_links = "parked", 0, 2

    def domain(self):
        return self.host.split(".", 1)[1] if self.host.startswith(("www.", "web.", "users.")) else self.host

    def missing(self, path, request):
        return self.now(path, request)

    def front(self, request):
        return self.now("/", request)


class Registrar(Held):
    """What registrars show for names without a site."""

    links = 7
    pages_of = {
        "en": (("GoDaddy", "www.godaddy.com", "{d} is parked free, courtesy of GoDaddy.com. Get this domain."), ("Dynadot", "www.dynadot.com",
            "{d} is registered and parked at Dynadot."),
               ("Hover", "www.hover.com", "{d} is a totally awesome idea still being worked on. Check back later."), ("Porkbun", "porkbun.com",
                   "{d} parked on Porkbun. A brand new domain!")),
        "it": (("Aruba", "www.aruba.it", "Il dominio {d} è registrato presso Aruba S.p.A. Sito in allestimento."), ("Register",
            "www.register.it", "Questo dominio è stato registrato con Register.it.")),
        "nl": (("TransIP", "www.transip.nl", "Gereserveerd. Deze domeinnaam is geregistreerd via TransIP."), ("Hostnet", "www.hostnet.nl",
            "{d} is gereserveerd door een klant van Hostnet.")),
        "pl": (("home.pl", "home.pl", "Domena {d} jest utrzymywana na serwerach home.pl."), ("nazwa.pl", "www.nazwa.pl",
            "Domena {d} została zarejestrowana w nazwa.pl.")),
        "pt": (("Registro.br", "registro.br", "Domínio {d} registrado. Página em construção."), ("KingHost", "king.host",
            "Este domínio está registrado e estacionado na KingHost.")),
        "sv": (("Loopia", "www.loopia.se", "Domänen {d} är parkerad hos Loopia."), ("One.com", "www.one.com",
            "{d} is hosted by One.com. Domänen är reserverad.")),
        "ko": (("Gabia", "www.gabia.com", "{d} 은 가비아에서 등록된 도메인입니다. 도메인 파킹 페이지입니다."),), "zh": (("万网", "wanwang.aliyun.com",
            "域名 {d} 已在万网注册,目前处于停放状态。"),),
    }

    def now(self, path, request):
        firm, host, text = self.rng("firm").choice(self.pages_of[self.language.code])
        return page(f"""<!doctype html><html><head><meta charset=utf-8><meta name=robots content="noindex">
<title>{self.rng("t").choice([self.domain(), f"{firm} - {self.domain()}"])}</title>
<link rel=stylesheet href="https://{host}/parking/style.css"></head><body><section><a href="https://{host}/?ref=parked">{firm}</a>
<h2>{text.format(d=self.domain())}</h2>
<a href="https://{host}/whois?d={self.domain()}">whois</a></section></body></html>""")


class Offer(Held):
    """Offers of names, on landers, on pages of brokers, and at a marketplace."""

    links = 9

    def now(self, path, request):
        title, text, button = (part.format(self.domain()) for part in say(self, "sale").split("|"))
        kind = self.rng("kind").choice(["market", "market", "lander", "lander", "own"])
        if kind == "market":
            return moved(f"http://www.afternic.com/forsale/{self.domain()}?utm_source=TDFS&traffic_id={request.randrange(10**8)}")
        seller = self.rng("seller").choice(["https://www.efty.com", "https://www.brandbucket.com", "https://sedo.com", "https://www.4.cn",
            "https://www.squadhelp.com"])
        if kind == "lander":
            return page(f"""<!DOCTYPE html><html lang="{self.language.code}"><head><meta charset="utf-8"><title>{title}</title>
<meta property="og:title" content="{title}"></head><body><div class="container">
<h1>{self.domain()}</h1><p class="lead">{text}</p>
<a class="btn btn-primary" href="{seller}/domain/{self.domain()}?sid={request.getrandbits(50):x}">{button}</a><ul><li>Escrow.com</li>
<li>PayPal</li></ul></div></body></html>""")
        return page(f"<html><head><title>{self.domain()}</title></head><body><h2>{title}</h2><p>{text}</p>"
            f"<p>domains{self.rng('mail').randint(10, 99)}@gmail.example</p></body></html>")


class Marketplace(Held):
    def now(self, path, request):
        name = path.split("?")[0].rstrip("/").rsplit("/", 1)[-1]
        return page(f"""<!doctype html><html><head><title>{name} is for sale | Afternic</title></head><body><h1>{name}</h1>
<p>Get a price in less than 24 hours. Fill out the form below. One of our domain experts
will have a price to you within 24 business hours.</p><form><input name="firstName"><input name="email"><button>Get price</button></form>
<script>var id="{request.getrandbits(64):x}"</script></body></html>""")


class Clicks(Held):
    """Words to click on, in the page or in a frame of the service."""

    links = 7
    words = {"en": "Mortgage Rates|Life Insurance|Laptops|Cruise Deals|Lawyers|Dating|VoIP Phones|Credit Report|Furniture|SUV Deals",
        "it": "Prestiti|Assicurazione Moto|Voli|Mutui|Hotel Roma|Corsi",
             "nl": "Hypotheek|Zorgverzekering|Vliegtickets|Lenen|Laptops|Vakantiehuis", "pl": "Kredyty|Ubezpieczenia|Loty|Hotele|Praca|Meble",
                 "pt": "Empréstimo|Seguro Auto|Passagens|Cursos|Hotéis",
             "sv": "Bolån|Försäkring|Flygresor|Hotell|Möbler", "ko": "대출|보험|항공권|호텔|노트북", "zh": "贷款|保险|机票|酒店|家具"}

    def now(self, path, request):
        rng, domain = self.rng("clicks"), self.domain()
        way = rng.choice(["frame", "list", "list", "list"])
        if way == "frame":
            return page(f"""<html><head><title>{domain}</title></head><frameset rows="100%,*" frameborder="no">
<frame src="http://www.sedoparking.com/{domain}" name="parked"><noframes>
<a href="http://www.sedoparking.com/{domain}">{domain}</a></noframes></frameset></html>""")
        head, note = say(self, "related").split("|")
        shown = request.sample(self.words[self.language.code].split("|"), 5)
        items = "".join(f'<div class="result">'
            f'<a href="http://{domain}/search?k={urllib.parse.quote(word)}&c={request.getrandbits(40):x}">{word}</a></div>' for word in shown)
        script = rng.choice(['<script src="https://www.google.com/adsense/domains/caf.js"></script>',
            '<script src="//pixel.above.com/px.js"></script>',
                             '<script>var zeropark={"k":1};</script>'
                                 '<script src="https://d1lxhc4jvstzrp.cloudfront.net/themes/cleanPeppermint/style.js"></script>', ""])
        return page(f"""<!DOCTYPE html><html data-adblockkey="{request.getrandbits(128):032x}"><head><title>{domain}</title>{script}</head><body>
<h1>{domain}</h1><h2>{head}</h2>{items}
<div class="foot">{note} <a href="/privacy">Privacy</a></div></body></html>""")


class RanOut(Held):
    """A registration that has ended."""

    links = 5

    def now(self, path, request):
        rng = self.rng("out")
        title, text = say(self, "expired").split("|")
        firm = rng.choice(["www.domeneshop.no", "www.tucows.com", "www.networksolutions.com", "www.aruba.it", "www.transip.nl", "www.gabia.com"])
        return page(f"""<html><head><title>{title.format(self.domain())}</title></head><body><h1>{title.format(self.domain())}</h1>
<p>{text.format(f"2026-{rng.randint(1, 11):02}-{rng.randint(1, 28):02}")}</p>
<p><a href="https://{firm}/">{firm}</a></p><!-- {request.getrandbits(40):x} --></body></html>""")


class Stub(Held):
    """A script of a registrar that leads to its advertisements."""

    links, languages = 2, ("en", "pt", "pl")

    def now(self, path, request):
        if path == "/lander":
            return page(f'<!doctype html><html><head><title>{self.domain()}</title>'
                f'<script src="https://img1.wsimg.com/parking-lander/static/js/main.js"></script></head><body><div id="root"></div></body></html>')
        return page('<!DOCTYPE html><html><head><script>window.onload=function(){window.location.href="/lander"}</script></head></html>')


# Taken over.


class Buyer(Fourth):
    """Another owner, on another subject."""

    truth, links, captured_after, most_links = "taken_over", 0, 0.5, 2
    paths = ("/", "/", "/index.htm", "/{w}.html", "/doc/{w}/", "/{w}_{k}.html")
    buyers = None

    def __init__(self, *args):
        super().__init__(*args)
        self.new, rng = Fourth(*args), self.rng("buyer")
        code = rng.choice(self.buyers or [self.language.code])
        self.language, self.new.language = self.language.voice(0), LANGUAGES[code].voice(1)
        # Two people share the words of their language that say no more than this.
        for language in (self.language, self.new.language):
            language.words["A"] = LANGUAGES[language.code].words["A"]
        self.new.subject = rng.choice([subject for subject in self.new.language.subjects if subject != self.subject])
        self.new.names = [self.new.language.coin(rng) for _ in range(14)]
        self.new.name = f"{self.new.language.coin(rng)} {rng.choice(['Media', 'Group', 'Online', 'Blog', 'Studio'])}"
        self.new.theme = rng.choice([layout_drupal, layout_magazine, layout_frames])

    def now(self, path, request):
        return self.new.article(path, request)

    def missing(self, path, request):
        return hard_404(self.new, path, request)

    def front(self, request):
        return front(self.new, request)


class Gambling(Buyer):
    """Slots and bets, in English or in the language of players elsewhere."""

    links = 6
    words = {"en": "poker|bookmaker|sportsbook|cashback|crypto casino|baccarat|payout|slot machine|parlay|VIP club",
        "it": "scommesse|casinò|slot|bonus senza deposito|poker|quote", "nl": "gokkast|weddenschap|casino|bonus|storting|poker",
             "pl": "kasyno|zakłady|automaty|bonus powitalny|ruletka|wypłata", "pt": "cassino|apostas|caça-níqueis|bônus|roleta|saque",
                 "sv": "spelautomat|odds|kasino|insättning|bonus", "ko": "카지노|토토|슬롯|배팅|보너스", "zh": "娱乐城|博彩|老虎机|投注|彩金"}

    def now(self, path, request):
        rng, code = self.rng("gambling", path), self.new.language.code
        games = self.words[code].split("|")
        body = "".join(f"<h3>{rng.choice(games).title()}</h3><p>{self.new.language.paragraph(rng, games, self.new.names)}</p>"
            for _ in range(rng.randint(3, 7)))
        title = f"{self.new.names[0].upper()}{rng.randint(77, 999)} – {', '.join(rng.sample(games, 3))}"
        return framed(self.new, title, body, request)


class Practice(Buyer):
    """A doctor, a lawyer or a builder, who bought a short name."""

    links = 6
    words = {"en": "Family Law Attorneys|Landscaping Contractors|Chiropractic Clinic|Auto Body Repair",
        "it": "Studio Legale|Impresa Edile|Centro Estetico", "nl": "Fysiotherapie|Loodgietersbedrijf|Rijschool",
            "pl": "Kancelaria Prawna|Usługi Remontowe|Gabinet Stomatologiczny",
             "pt": "Advocacia|Clínica Odontológica|Reformas", "sv": "Tandläkare|Takläggare|Flyttfirma", "ko": "법률사무소|치과|인테리어",
                 "zh": "律师事务所|口腔医院|装修公司"}

    def __init__(self, *args):
        super().__init__(*args)
        trade = self.rng("trade").choice(self.words[self.new.language.code].split("|"))
        self.new.name = f"{self.new.names[1]} {trade}"

    def now(self, path, request):
        rng, title = self.rng("practice", path), self.new.name
        home = {"en": f"Home | {title}", "it": f"Benvenuti - {title}", "pt": f"Bem-vindo | {title}"}.get(self.new.language.code, title)
        body = "".join(f"<section><h2>{self.new.language.title(rng, self.new.subject, self.new.names)}</h2>"
            f"<p>{self.new.language.paragraph(rng, self.new.subject, self.new.names, 1, 3)}</p></section>" for _ in range(4))
        return framed(self.new, home, f"{body}<address>{self.new.names[2]} {rng.randint(1, 99)}, "
            f"+{self.rng('tel').randint(10**9, 10**10)}</address>", request)

    def then(self, path, year):
        title, body = self.text(path)
        hello = {"en": "Welcome to", "it": "Benvenuti a", "pt": "Bem-vindo a", "nl": "Welkom bij", "sv": "Välkommen till"}.get(self.language.code, "")
        return framed(self, f"{hello} {self.name} Home Page" if path == "/" else title, body, self.rng("then", year), self.old_theme)


class Magazine(Buyer):
    """A site of articles for links, under the name of a club that is no more."""

    links = 6


class Abroad(Buyer):
    """A shop or a club in another country."""

    links, languages, buyers = 5, ("en", "it", "nl", "sv", "pt"), ("zh", "ko", "pl", "pt")


# Living.


class Text(Fourth):
    """Articles."""

    links = 14


class HomeOfAPerson(Fourth):
    """A page of a person, with a counter and a date."""

    links, paths = 6, ("/~{w}/", "/people/{w}/", "/~{w}/index.html")

    def article(self, path, request, theme=None):
        title, body = self.text(path)
        return framed(self, title, f"{body}<p>{request.randint(1, 28)}.11.2026 {request.randint(0, 23)}:{request.randint(10, 59)}</p>", request,
            layout_homepage)


class CourseNotes(Fourth):
    """Documentation of a protocol, with a chapter on status 404 and what is not found."""

    links, languages = 4, ("en", "it", "nl")
    nouns = "status code|404|response|request|client|origin server|Not Found|Gone|resource|header field|cache|message body".split("|")
    titles = ("404 Not Found - HTTP reference", "Status codes 400 to 417", "Lecture 7: errors in HTTP", "Why is my page not found?")

    def text(self, path):
        rng = self.rng("text", path)
        return rng.choice(self.titles), "".join(f"<p>{self.language.paragraph(rng, self.nouns, self.names)}</p>" for _ in range(rng.randint(3, 7)))


class NamesInTheNews(Fourth):
    """A lawyer or a journalist on names that were sold, parked and expired."""

    links, languages = 4, ("en",)
    lines = ["The panel found that {d}, which was parked with sponsored links, had been registered in bad faith.",
        "In {y} the name {d} was for sale for {k} dollars.", "Renewals cost ${k}; after a domain has expired, the registrar may auction it.",
             "The respondent replied that an offer to sell {d} is no proof.", "Anybody who wants to buy this domain must ask the court first.",
                 "Complainant owns {k} names, among them {d}.", "Parking pages carry a notice that the domain owner has no relation to advertisers."]

    def text(self, path):
        rng = self.rng("text", path)
        lines = [rng.choice(self.lines).format(d=f"{self.language.coin(rng).lower()}.com", y=rng.randint(1999, 2005), k=rng.randint(11, 8000))
            for _ in range(rng.randint(9, 18))]
        title = f"{self.language.coin(rng)} v. {self.language.coin(rng)}, case D{rng.randint(1999, 2004)}-{rng.randint(10, 999):04}"
        return title, "".join(f"<p>{line}</p>" for line in lines)


class ShortInLarge(Fourth):
    """A note of a line in a magazine's layout; what never was has this layout and status 404."""

    links = 6

    def article(self, path, request, theme=None):
        return framed(self, self.text(path)[0], f"<p>{self.language.sentence(self.rng('note', path), self.subject, self.names)}</p>", request,
            layout_magazine)

    def missing(self, path, request):
        title, text = say(self, "lost").split("|")
        return page(layout_magazine(self, title, f"<p>{text}</p>", request), 404)


class Renewed(Fourth):
    """The same article in a new layout under a new name of the site, with a note of the editor."""

    links, redesigned_share = 7, 1.0

    def now(self, path, request):
        title, body = self.text(path)
        return framed(self, title, f"{body}<p><em>{self.language.sentence(self.rng('note', path), self.subject, self.names)}</em></p>", request,
            layout_magazine)

    def then(self, path, year):
        return self.article(path, self.rng("then"), layout_homepage)


class DokuWiki(Fourth):
    """A wiki whose missing pages are 404."""

    links, paths = 5, ("/doku.php?id={w}:{w}", "/wiki/{w}_{w}", "/wiki/{w}")

    def missing(self, path, request):
        return page(layout_frames(self, path.rsplit("/", 1)[-1],
            "<h1>This topic does not exist yet</h1>"
                "<p>You've followed a link to a topic that doesn't exist yet. If permissions allow, you may create it by clicking on Create this "
                    "page.</p>", request), 404)


class Front(Fourth):
    """The front page as the link. Some sites lead all that is missing there, and some answer it under each address."""

    links, paths, most_links, truth = 9, ("/", "/index.html"), 1, "living"

    def now(self, path, request):
        return self.front(request)

    def missing(self, path, request):
        way = self.rng("missing").choice(["404", "404", "moved", "same"])
        return {"404": lambda: hard_404(self, path, request), "moved": lambda: moved("/"), "same": lambda: self.front(request)}[way]()

    def then(self, path, year):
        rng = self.rng("front")
        return framed(self, self.name, "".join(f"<p>{self.language.paragraph(rng, self.subject, self.names, 2, 4)}</p>"
            for _ in range(2)), self.rng("then", year), self.old_theme)


class Houses(Fourth):
    """Houses and boats for sale, others each month."""

    links, languages, truth, paths = 5, ("en", "nl", "it", "sv"), "changed", ("/listings/{w}.html", "/{w}.asp?page={k}")
    sale = {"en": "For sale", "nl": "Te koop", "it": "In vendita", "sv": "Till salu"}

    def now(self, path, request, year=2026):
        rng, word = self.rng("houses", path, year), self.sale[self.language.code]
        body = "".join(f"<li><b>{word}: {self.language.coin(rng)}</b> {rng.randint(40, 400)} m2, {rng.randint(90, 900)}.000 "
            f"EUR<br>{self.language.sentence(rng, self.subject, self.names)}</li>" for _ in range(rng.randint(5, 12)))
        return framed(self, f"{word} - {self.name}", f"<ul>{body}</ul>", request)

    def then(self, path, year):
        return self.now(path, self.rng("then", year), year)


class Today(Fourth):
    """A page of news."""

    links, truth, paths, most_links = 6, "changed", ("/news.html", "/{w}/", "/today/"), 2

    def now(self, path, request):
        return framed(self, self.name, anchors(headlines(self, request, 15), "<h2>{}</h2>"), request, layout_magazine)

    def then(self, path, year):
        return self.now(path, self.rng("then", year))


class Few(Fourth):
    """Hardly any words."""

    links = 6

    def article(self, path, request, theme=None):
        rng = self.rng("few", path)
        name, word = self.language.coin(rng), rng.choice(self.language.subjects[self.subject])
        return page(rng.choice([f"<title>{name}</title><a href='{name}.zip'>{word}.zip</a> ({rng.randint(10, 900)} KB)",
            f"<html><title>{word}</title><body><center><img src=a.jpg><br>{name}</center></body></html>",
                                f"<html><head><title>{name}</title></head><body><p>{word}</p><p>{name}, {rng.randint(1996, 2004)}</p></body>"
                                    f"</html>", f"<title>{word}</title><applet code={name}.class width=300></applet>{name}"]))


class Index(Fourth):
    """A folder of files as the server lists it."""

    links, paths = 4, ("/pub/{w}/", "/files/{w}{k}/")

    def article(self, path, request, theme=None):
        rng = self.rng("index", path)
        rows = "\n".join(f'<a href="{self.slug(rng)}{n}.tar.gz">{self.slug(rng)}{n}.tar.gz</a>   {rng.randint(1, 28):02}-Mar-2003 '
            f'12:{rng.randint(0, 59):02}   {rng.randint(1, 900)}K' for n in range(rng.randint(3, 15)))
        return page(f"<html><head><title>Index of {path}</title></head><body><h1>Index of {path}</h1><hr><pre>"
            f"<a href=\"../\">../</a>\n{rows}</pre><hr></body></html>")


class ByPlace(Fourth):
    """A page in the language of the place that it is asked from."""

    links, truth = 3, "living"

    def now(self, path, request):
        language = LANGUAGES[self.rng("place").choice([code for code in LANGUAGES if code != self.language.code])]
        subject = self.rng("subject").choice(list(language.subjects))
        body = "".join(f"<p>{language.paragraph(self.rng('place', path, number), subject, self.names)}</p>" for number in range(4))
        return framed(self, f"{self.names[0]} – {self.name}", body + "".join(f'<a hreflang="{code}" href="/{code}{path}">{code}</a> '
            for code in LANGUAGES), request)

    def then(self, path, year):
        title, body = self.text(path)
        return framed(self, f"{self.names[0]} – {self.name}", body, self.rng("then", year), self.old_theme)


class ShellLiving(Shell):
    """An application that shows what the link is for, to who runs its script."""

    truth, links = "living", 4


class MembersOnly(SignIn):
    """A site for its members alone: the page is there for them."""

    truth, links, alive_share = "living", 2, 0.0

    def front(self, request):
        return moved("/account/signin?ReturnUrl=%2F")


class Thread(Fourth):
    """A thread of a forum in which somebody could not find something."""

    links, paths = 6, ("/forum/topic/{k}", "/phpBB/viewtopic.php?t={k}")

    def text(self, path):
        rng = self.rng("text", path)
        title = rng.choice(["Page not found after update", "driver not found", "file missing?", self.language.title(rng, self.subject, self.names)])
        return title, "".join(f"<div class=post>"
            f"<b>{rng.choice(self.names)}</b> {rng.randint(1, 28)}/03/2003<p>{self.language.paragraph(rng, self.subject, self.names, 1, 4)}</p>"
                f"</div>" for _ in range(rng.randint(2, 8)))


class Acquired(Fourth):
    """The owner was bought and renamed; the old address leads to the same article at a new one."""

    links = 4

    def missing(self, path, request):
        return self.article(path.removeprefix("/legacy"), request,
            layout_drupal) if path.removeprefix("/legacy") in self.truths else hard_404(self, path, request)

    def now(self, path, request):
        return moved(f"/legacy{path}", 301)


class OnSoftSite(OwnPage):
    """Pages that are there among those that are not."""

    links, alive_share = 4, 1.0


class Teaser(Fourth):
    """The first lines, for who does not pay."""

    links, truth = 4, "living"

    def now(self, path, request):
        title, body = self.text(path)
        return framed(self, title, f"{body[:240]}…<div>{say(self, 'login')}</div>", request, layout_magazine)


KINDS = [kind for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, Fourth) and kind.links and kind not in (Fourth, Held, Buyer, Marketplace)]
# Hosts that redirects lead to.
SERVICES = {"www.afternic.com": Marketplace}
