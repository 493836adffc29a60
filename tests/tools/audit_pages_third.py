"""Pages of a Web with known truth, third set: by somebody who has not read what judges them, after it was written.

They are drawn from what servers send. The truth is what an informed person would say who looks at the page and at the archive:
- soft_404: the status is 200, or leads to one, and what is shown is not the page: an apology, the front page, a search, a notice of
  removal, a frame whose script says so, a placeholder of the web server or of the provider (space without content, an account that was
  closed: "unused" in T. Halvorson et al., "From .academy to .zone", IMC 2015, which is apart from parked there too).
- parked: the name is held by a registrar, a seller or a parking service, and all paths show its page: default page of a registrar, offer
  for sale, advertisements by keyword, notice of expiry.
- taken_over: an owner who is not the one of the citation shows a page of their own under the same URL.
- changed: the same owner and the same purpose, with another text; living: a page that a person would see, which the archive does not
  have in this form; as_cited: the page of the citation, in whatever layout.
Not in this set: new owners who show one page for all paths, which a person could call by two names.
"""

import base64
import html
import random
import urllib.parse

from audit_sites import Language, Site

LANGUAGES = {
    "en": Language("en", "com org net co.uk", "wex ham ton bram ley har row dun stan wick el mer cot ford pen ros al den", """
The {N} of {P} was {A} until {Y}, when the {N} {V} it.
Most visitors {V} the {A} {N} and never ask about the {N}.
In {Y} {P} {V} a {N} with {K} parts, none of them {A}.
We still {V} every {N} by hand, because a {A} {N} is not enough.
If your {N} is {A}, write to {P} and ask for the {N}.
{P} and {P} {V} the same {N} for {K} years.
There are {K} kinds of {N}; only the {A} one needs a {N}.
Nobody at {P} could say why the {N} had become so {A}.
Please {V} the {N} before you touch the {A} {N}.
A {A} {N}, a {A} {N} and {K} pages of notes are all that {P} left.
Anyone who has {V} a {N} knows how {A} it can be.
Bring a {A} {N}, some paper and at least {K} minutes.
Letters from {Y} show that {P} already {V} {N} and {N} together.
If you ask me, no {N} was ever as {A} as that of {P}.
On page {K} you will find the {N} which {P} {V} last summer.
Since the {N} is {A} again, we can go on with the {N}.
It took {P} until {Y} to find out which {N} was {A}.
My own {N} is {A}; other people have {V} theirs with {N}.""",
        "kept described restored measured sold tested found opened replaced followed repaired compared recorded joined carried moved drew built",
        "old rare quiet broken northern early plain heavy useful local strange wooden complete bright narrow annual exact careful familiar public",
        {"rail": "engine station signal carriage timetable bridge tunnel junction depot driver boiler platform gauge locomotive branch viaduct "
            "siding",
         "birds": "heron nest warbler feather marsh ringing binocular migration plumage owl clutch habitat gull census hide roost falcon",
         "unix": "kernel shell buffer daemon socket compiler patch driver filesystem terminal pipe header library port script archive protocol",
         "choir": "tenor hymn rehearsal organ score cantata conductor psalm chapel concert soprano anthem pedal recital manuscript chorus mass"}),
    "de": Language("de", "de de at ch", "berg stein wald au feld rot hof neu kirch lin schwar bach eich mar hol zen", """
Die Abteilung {N} in {P} war bis {Y} {A} und wurde dann geschlossen.
Wer {A} {V}, braucht dafür weder {N} noch {N}.
Seit {Y} {V} {P} im Verein den Bereich {N} mit {K} Mitgliedern.
Für {N} und {N} gelten in {P} eigene Regeln, die {A} sind.
{P} {V} jedes Jahr {K} Beiträge zum Thema {N}.
Das ist {A}, sagt {P}, aber ohne {N} geht es nicht.
Unter {N} versteht man hier alles, was {A} ist und zu {N} gehört.
Im Jahr {Y} {V} die Gruppe um {P} auch {N}, was damals {A} war.
Wir bitten alle Freunde von {N}, sich bei {P} zu melden.
Ein Besuch lohnt sich, weil {N} selten so {A} zu sehen ist.
Fragen zu {N} beantwortet {P} gern am Telefon, auch wenn es {A} wird.
Nach {K} Stunden war klar, dass {N} nicht {A} genug war.
Schon {Y} stand in der Zeitung, wie {P} heute {N} {V}.
Ob {N} oder {N}: Hauptsache, das Ergebnis bleibt {A}.
Auf Seite {K} steht, was {P} über {N} denkt.
Mit etwas Übung {V} man {N} auch ohne Hilfe.""",
        "sammelt beschreibt prüft ordnet pflegt zeigt baut erklärt vergleicht sucht verkauft leitet erforscht nutzt begleitet",
        "selten neu wichtig schwierig alt vollständig einfach teuer öffentlich bekannt nützlich genau ruhig jährlich fremd gültig",
        {"modellbau": "Lokomotive Weiche Spur Anlage Signal Fahrplan Bausatz Waggon Maßstab Digitalsteuerung Kessel Schiene Trafo Oberleitung "
            "Bahnhof",
         "garten": "Rose Kompost Beet Hecke Obstbaum Saatgut Gewächshaus Schnitt Staude Boden Laube Ernte Zwiebel Rasen Mulch",
         "recht": "Urteil Vertrag Frist Klage Gesetz Satzung Haftung Mandant Gericht Paragraph Berufung Gebühr Eigentum Zeuge Vollmacht"}),
    "fr": Language("fr", "fr fr org ch", "mont ville bel la roche saint mar ti gny our au bre ron val lac che vil", """
Le service {N} de {P} est resté {A} jusqu'en {Y}.
On {V} chaque {N} avec soin, car le travail est {A}.
Depuis {Y}, {P} {V} plus de {K} documents sur le thème {N}.
Entre {N} et {N}, {P} a choisi ce qui était le plus {A}.
Il faut {K} jours pour qu'un nouveau {N} devienne {A}.
L'association {P} {V} aussi {N}, {N} et tout ce qui est {A}.
Personne à {P} ne {V} plus {N} de cette façon.
Les amis de {P} se réunissent autour du sujet {N} tous les {K} du mois.
Nous avons demandé à {P} pourquoi ce {N} est si {A}.
Quand un {N} devient {A}, mieux vaut chercher un autre {N}.
Voici {K} conseils pour qui {V} pour la première fois un {N}.
Dès {Y}, le journal de {P} parlait d'un {N} tout à fait {A}.
Chez {P}, aucun {N} ne part sans {N}.
Vous trouverez page {K} la liste complète : {N}, {N}, {N}.
Rien n'est plus {A} que de voir comment {P} {V} cela.""",
        "présente conserve étudie répare classe compare prépare publie décrit vend mesure dirige explique observe",
        "rare ancien utile fragile complet public simple célèbre local difficile nouveau discret lourd clair annuel",
        {"vin": "cave cépage vendange tonneau millésime bouteille vigne domaine terroir sommelier bouchon récolte coteau dégustation",
         "histoire": "archive château siècle chartre paroisse évêque registre bataille manuscrit duché généalogie sceau forteresse blason",
         "radio": "antenne émetteur fréquence récepteur ondes relais bobine soudure brouillage modulation balise lampe amplificateur"}),
    "es": Language("es", "es es com.ar com.mx", "villa al ma rio san cas tel lo gar cía mon te ver de lu na", """
El grupo de {N} de {P} fue {A} hasta {Y}.
Cada año {P} {V} más de {K} trabajos sobre {N}.
Sin {N} no hay {N}, y eso es {A} para todos.
Desde {Y} se {V} también {N} en la sede de {P}.
Los socios de {P} {V} con {N}, {N} y material {A}.
Nadie sabía en {P} que el tema {N} era tan {A}.
Para recibir {N} hay que escribir a {P} antes del día {K}.
La sección {N} es {A} y tiene {K} páginas.
¿Por qué {P} {V} siempre primero {N} y después {N}?
En {Y}, según cuenta {P}, todo era más {A}.
Quien {V} con paciencia acaba por encontrar algo {A}.
Hacen falta {K} horas y un poco de {N}.
Tanto {N} como {N} llegaron aquí gracias a {P}.
Le damos {K} ideas para que su {N} siga siendo {A}.""",
        "presenta estudia publica guarda repara describe compara prepara recoge ordena mide vende dirige",
        "antiguo raro público útil sencillo completo difícil nuevo local célebre breve frágil anual claro",
        {"astro": "telescopio cometa órbita eclipse lente planeta galaxia cúpula nebulosa satélite espejo latitud meteoro observatorio",
         "cocina": "receta horno aceite mercado guiso harina especia cazuela postre masa cuchara sal azafrán caldo",
         "futbol": "liga portero torneo árbitro cantera estadio gol plantilla entrenador afición clasificación derbi copa"}),
    "ru": Language("ru", "ru ru su org", "во ро ни ско бел ка мо ло гра дин ста рин пе тро ва лес", """
В {P} раздел {N} был {A} до {Y} года.
Кто {V} {N}, тот знает, что это {A} дело.
С {Y} года {P} {V} более {K} материалов по теме {N}.
Без {N} и {N} работа становится {A}.
Участники клуба {P} {V} также {N}, {N} и многое другое.
На странице {N} собрано {K} описаний, и каждое {A}.
Никто в {P} не помнит, почему {N} стал таким {A}.
Пишите в {P}, если у вас есть {N} или {A} {N}.
Почему {P} так долго {V} именно {N}?
Нам понадобилось {K} дней, чтобы найти {A} {N}.
Ещё в {Y} году об этом рассказал {P}: {N} и {N} связаны.
Хороший {N} не бывает слишком {A}, уверен {P}.
Вот {K} простых советов тем, кто {V} {N} впервые.
Вчера мы увидели {N}, который {P} {V} уже давно.""",
        "собирает изучает описывает хранит чинит сравнивает продаёт проверяет публикует ведёт",
        "редкий старый полезный простой трудный полный новый местный точный тихий важный",
        {"шахматы": "дебют эндшпиль гамбит турнир партия ферзь ладья часы рейтинг комбинация доска судья этюд",
         "космос": "ракета орбита спутник двигатель экипаж станция топливо скафандр посадка телеметрия космодром аппарат",
         "железо": "процессор плата память драйвер модем диск корпус кулер шина прошивка монитор кабель"}),
    "ja": Language("ja", "jp co.jp ne.jp com", "山 川 田 中 村 木 森 石 井 藤 高 松 本 野 原 島", """
{P}の{N}は{Y}年まで{A}ものでした。
{N}を{V}ときには、{N}に注意してください。
{Y}年から{P}では{K}件の{N}を{V}ことができます。
{A}{N}については、{P}までお問い合わせください。
このページでは{N}と{N}の違いを{V}ための資料を紹介します。
{P}さんは{A}{N}を{K}年間{V}ことを続けました。
毎月{K}日に{N}の会を開き、{A}話題を取り上げます。
{N}がないと{N}は{A}作業になります。
なぜ{P}は{A}{N}を選んだのでしょうか。
初めての方には{K}分ほどの{N}をおすすめします。
{Y}年の夏、{P}と一緒に{N}を{V}機会がありました。
やはり{N}より{N}のほうが{A}と思います。
詳しくは{K}ページの{N}の一覧をご覧ください。
私たちは{P}のために{A}{N}をご用意しました。""",
        "調べる 集める 直す 比べる 売る 記録する 説明する 作る 守る 測る 楽しむ",
        "古い 珍しい 新しい 大切な 難しい 静かな 便利な 正確な 有名な 簡単な",
        {"鉄道": "機関車 駅 時刻表 信号 橋梁 車両 線路 踏切 模型 運転士 支線 写真",
         "園芸": "盆栽 種 土 肥料 剪定 温室 花壇 球根 苗 品種 鉢 収穫",
         "計算機": "端末 配列 入力 回路 記憶装置 命令 互換機 文字コード 基板 周辺機器 雑誌 移植"}, joiner=""),
}

# Words of the frame of a site: front page, about, contact, search, more, read, all rights.
FRAME = {
    "en": "Home|About us|Contact|Search|Archive|Most read|All rights reserved|Advertisement|Sitemap|Related articles",
    "de": "Startseite|Über uns|Kontakt|Suche|Archiv|Meistgelesen|Alle Rechte vorbehalten|Anzeige|Impressum|Ähnliche Beiträge",
    "fr": "Accueil|Qui sommes-nous|Contact|Rechercher|Archives|Les plus lus|Tous droits réservés|Publicité|Plan du site|À lire aussi",
    "es": "Inicio|Quiénes somos|Contacto|Buscar|Archivo|Lo más leído|Todos los derechos reservados|Publicidad|Mapa del sitio|Noticias relacionadas",
    "ru": "Главная|О нас|Контакты|Поиск|Архив|Популярное|Все права защищены|Реклама|Карта сайта|Читайте также",
    "ja": "ホーム|会社概要|お問い合わせ|検索|アーカイブ|人気記事|無断転載を禁じます|広告|サイトマップ|関連記事",
}
# What error pages say: title, text.
LOST = {
    "en": (("Page not found", "Sorry, we can't find the page you were looking for. It may have been moved or deleted, or the address was mistyped."),
           ("Oops! That page can't be found.", "It looks like nothing was found at this location. Maybe try one of the links below or a search?"),
           ("404 - File or directory not found",
               "The resource you are looking for might have been removed, had its name changed, or is temporarily unavailable."),
           ("We're sorry", "The document you requested could not be located on this server. Please check the URL or start at our home page."),
           ("This page isn't here any more",
               "We rebuilt our web site last year and some old addresses no longer work. Use the menu to find what you need.")),
    "de": (("Seite nicht gefunden", "Die von Ihnen aufgerufene Seite konnte leider nicht gefunden werden. Bitte prüfen Sie die Adresse."),
           ("Fehler 404", "Hoppla! Diese Seite existiert nicht oder nicht mehr. Nutzen Sie bitte die Suche oder kehren Sie zur Startseite zurück."),
           ("Inhalt nicht verfügbar", "Das gesuchte Dokument wurde verschoben oder gelöscht. Wir haben unsere Internetseiten neu gestaltet.")),
    "fr": (("Page introuvable", "Désolé, la page que vous recherchez n'existe pas ou a été déplacée. Vérifiez l'adresse saisie."),
           ("Erreur 404", "Oups ! Nous n'avons pas trouvé cette page. Revenez à l'accueil ou utilisez le moteur de recherche."),),
    "es": (("Página no encontrada", "Lo sentimos, la página que busca no existe o ha cambiado de dirección."),
           ("Error 404", "¡Vaya! No hemos podido encontrar el contenido solicitado. Pruebe con el buscador o vuelva al inicio."),),
    "ru": (("Страница не найдена", "К сожалению, запрашиваемая вами страница не существует или была удалена."),
           ("Ошибка 404", "Возможно, вы перешли по устаревшей ссылке или неправильно набрали адрес. Вернитесь на главную страницу."),),
    "ja": (("ページが見つかりません", "お探しのページは移動または削除された可能性があります。URLをご確認ください。"),
           ("404 Not Found", "申し訳ございません。指定されたページは存在しません。トップページからお探しください。"),),
}
ADS = {
    "en": "Cheap flights from 29|Compare car insurance|New spring shoes|Learn a language in 3 weeks|Hosting at half price|Your loan today|Solar "
        "roof advisor",
    "de": "Stromanbieter vergleichen|Hotels ab 39 Euro|Kredit ohne Schufa?|Treppenlift Ratgeber|Neue Gleitsichtbrille|Handytarife im Test",
    "fr": "Mutuelle moins chère|Vols à petits prix|Devis gratuit fenêtres|Votre voiture en leasing|Soldes d'hiver",
    "es": "Seguros de coche|Vuelos baratos|Préstamo rápido|Rebajas de invierno|Aprende inglés",
    "ru": "Окна со скидкой|Кредит за 5 минут|Авиабилеты дёшево|Курсы английского|Новые шины",
    "ja": "格安航空券|中古車の査定|転職サイト比較|英会話無料体験|引越し見積り",
}


def host_name(rng, language, number):
    coins = LANGUAGES["en" if language.code in ("ru", "ja") else language.code]
    name = "".join(letter for letter in coins.coin(rng).lower() if letter.isascii())
    return f"{rng.choice(['www.', 'www.', '', 'home.'])}{name}{rng.choice(['-online', '', 'web', '-info'])}{number}.{rng.choice(language.tags)}"


def page(text, status=200, **fields):
    return status, {"Content-Type": "text/html; charset=utf-8", "Server": "Apache", **fields}, text.encode()


def moved(place, status=302):
    return page(f'<html><head><title>Object moved</title></head><body>Object moved to <a href="{html.escape(place)}">here</a>.</body></html>',
                status, Location=place)


def words(site):
    return FRAME[site.language.code].split("|")


def menu(site, key="menu", count=6):
    """Links of the site, with words of its subject."""
    rng = site.rng(key)
    nouns = site.language.subjects[site.subject]
    return [(noun.capitalize(), f"/{site.slug(rng)}/") for noun in rng.sample(nouns, min(count, len(nouns)))]


def links(pairs, between="\n", item="<li>{}</li>"):
    return between.join(item.format(f'<a href="{place}">{html.escape(text)}</a>') for text, place in pairs)


def titles(site, rng, count):
    """Titles of other articles, as lists of news have them."""
    return [(site.language.title(rng, site.subject, site.names), f"/{site.slug(rng)}/{rng.randint(100, 99999)}.html") for _ in range(count)]


def advertisements(site, request, count=3):
    ads = ADS[site.language.code].split("|")
    return "".join(f'<a rel="nofollow" href="http://ad.example.com/c?z={request.randrange(10**9)}&amp;n={number}">{text}</a> '
                   for number, text in enumerate(request.sample(ads, min(count, len(ads)))))


def clock(request):
    return f"{request.randint(6, 22):02}:{request.randint(0, 59):02}:{request.randint(0, 59):02}"


def theme_plain(site, title, body, request):
    home, about, contact, *_, rights, _, _, _ = words(site)
    return f"""<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.0 Transitional//EN">
<HTML><HEAD><TITLE>{title}</TITLE></HEAD>
<BODY BGCOLOR="#FFFFFF" LINK="#0000AA">
<H1>{title}</H1>
{body}
<HR><A HREF="/">{home}</A> | <A HREF="/about.html">{about}</A> | <A HREF="mailto:info@{site.host}">{contact}</A>
<ADDRESS>{site.name}</ADDRESS></BODY></HTML>"""


def theme_tables(site, title, body, request):
    home, about, contact, search, archive, _, rights, ad, sitemap, _ = words(site)
    items = links([(home, "/"), *menu(site, count=8), (archive, "/archive/"), (contact, "/contact.asp")], item="<tr><td class=nav>{}</td></tr>")
    return f"""<html><head><title>{site.name} - {title}</title><meta http-equiv="Content-Type" content="text/html; charset=utf-8">
<link rel="stylesheet" href="/style.css"></head><body topmargin=0 leftmargin=0>
<table width="100%" cellspacing=0><tr><td colspan=3><img src="/img/logo.gif" alt="{site.name}" width=400 height=60></td></tr>
<tr><td width=140 valign=top><table>{items}</table></td>
<td valign=top><h2>{title}</h2>{body}</td>
<td width=120 valign=top><small>{ad}</small><br>{advertisements(site, request)}</td></tr></table>
<center><font size=1>&copy; {site.name}. {rights}. {clock(request)}</font></center></body></html>"""


def theme_blog(site, title, body, request):
    home, about, contact, search, archive, most, rights, *_ = words(site)
    recent = titles(site, site.rng("recent"), 5)
    return f"""<!DOCTYPE html>
<html lang="{site.language.code}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} | {site.name}</title><link rel="stylesheet" href="/wp-content/themes/twentysixteen/style.css?ver=6.{request.randint(1, 4)}">
<meta name="generator" content="WordPress 6.4.3"><script>window._wpemojiSettings={{"source":"/wp-includes/js/wp-emoji-release.min.js"}};</script>
</head>
<body class="hentry"><header><p class="site-title"><a href="/">{site.name}</a></p><nav>
<ul>{links([(home, "/"), *menu(site, count=4), (about, "/about/")])}</ul></nav></header>
<main id="content"><article><h1 class="entry-title">{title}</h1><div class="entry-content">{body}</div></article></main>
<aside><form role="search" action="/"><input name="s" placeholder="{search}">
<input type="hidden" name="_wpnonce" value="{request.getrandbits(40):010x}"></form>
<h2>{most}</h2><ul>{links(recent)}</ul><h2>{archive}</h2><ul>{links([(f"{month}/2016", f"/2016/{month}/") for month in range(1, 7)])}</ul></aside>
<footer>{site.name} – {rights}</footer>
<!-- Performance optimized. Generated in {request.uniform(0.1, 0.9):.3f} s, {request.randint(20, 60)} queries --></body></html>"""


def theme_portal(site, title, body, request):
    home, about, contact, search, archive, most, rights, ad, sitemap, related = words(site)
    main, more = menu(site, count=9), menu(site, "second menu", 9)
    side = "".join(f"<div class='teaser'><h4><a href='{place}'>{text}</a></h4>"
        f"<p>{site.language.sentence(site.rng('teaser', text), site.subject, site.names)}</p></div>"
                   for text, place in titles(site, site.rng("teasers"), 8))
    return f"""<!doctype html><html lang="{site.language.code}"><head><meta charset="utf-8"><title>{title} – {site.name}</title>
<meta name="csrf-token" content="{base64.b64encode(request.randbytes(24)).decode()}">
<link rel="stylesheet" href="/assets/app-{site.rng('css').getrandbits(32):08x}.css">
<script async src="https://www.googletagmanager.com/gtag/js?id=UA-{site.rng('ga').randint(10**6, 10**7)}-1"></script>
<script type="application/ld+json">{{"@context":"https://schema.org","@type":"NewsMediaOrganization","name":"{site.name}"}}</script></head><body>
<header><a class="logo" href="/">{site.name}</a><ul class="main">{links(main)}</ul><ul class="sub">{links(more)}</ul><form action="/search">
<input name="q" aria-label="{search}"></form></header>
<div class="ad leaderboard"><span>{ad}</span>{advertisements(site, request, 2)}</div>
<div class="grid"><main><h1>{title}</h1>{body}</main><aside><h3>{most}</h3>{side}</aside></div>
<section><h3>{related}</h3><ul>{links(titles(site, site.rng("related"), 6))}</ul></section>
<footer><ul>{links([(about, "/about"), (contact, "/contact"), (archive, "/archive"), (sitemap, "/sitemap"), ("RSS", "/feed.xml")])}</ul>
<p>© 2026 {site.name}. {rights}.</p>
<!-- rid={request.getrandbits(64):016x} node=web{request.randint(1, 9)} --></footer></body></html>"""


def theme_bootstrap(site, title, body, request):
    home, about, contact, search, archive, _, rights, *_ = words(site)
    return f"""<!DOCTYPE html><html lang="{site.language.code}"><head><meta charset="utf-8"><title>{title}</title>
<link href="https://cdn.jsdelivr.net/npm/bootstrap@5.3.2/dist/css/bootstrap.min.css" rel="stylesheet"></head><body>
<nav class="navbar"><div class="container"><a class="navbar-brand" href="/">{site.name}</a>
<ul class="navbar-nav">{links(menu(site, count=5), item='<li class="nav-item">{}</li>')}</ul></div></nav>
<div class="container my-5"><h1 class="display-5">{title}</h1>{body}</div>
<footer class="text-muted"><a href="/kontakt">{contact}</a> · <a href="/about">{about}</a> · {site.name}</footer></body></html>"""


THEMES = [theme_plain, theme_tables, theme_blog, theme_portal, theme_bootstrap]


def framed(site, title, body, request, theme=None):
    return page((theme or site.theme)(site, title, body, request))


def hard_404(site, path, request):
    if site.rng("404").random() < 0.5:
        return page(f"""<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">
<html><head>\n<title>404 Not Found</title>\n</head><body>\n<h1>Not Found</h1>\n<p>The requested URL was not found on this server.</p>
<hr>\n<address>Apache/2.4.57 (Debian) Server at {site.host} Port 80</address>\n</body></html>""", 404)
    title, text = site.rng("404").choice(LOST[site.language.code])
    return page(site.theme(site, title, f"<p>{text}</p>", request), 404)


def front(site, request):
    rng = site.rng("front")
    body = "".join(f"<h3><a href='{place}'>{text}</a></h3><p>{site.language.paragraph(rng, site.subject, site.names, 1, 2)}</p>"
        for text, place in titles(site, rng, 6))
    return framed(site, site.name, f"<p>{site.language.paragraph(rng, site.subject, site.names)}</p>{body}", request)


# Soft 404.


class CustomError(Site):
    """An error page of the site's own, which the server sends with status 200."""

    truth, links, alive_share = "soft_404", 9, 0.25

    def missing(self, path, request):
        title, text = self.rng("lost").choice(LOST[self.language.code])
        echo = f"<p><code>http://{self.host}{html.escape(path)}</code></p>" if self.rng("echo").random() < 0.5 else ""
        mail = f"<p>{words(self)[2]}: webmaster@{self.host} ({request.getrandbits(32):08X}, {clock(request)})</p>"
        return framed(self, title, f"<p>{text}</p>{echo}{mail if self.rng('mail').random() < 0.5 else ''}", request)

    now = missing


class ToFrontPage(Site):
    """A redirect to the front page for everything that is not there."""

    truth, links, alive_share = "soft_404", 6, 0.25

    def missing(self, path, request):
        if path.startswith(("/index.php?from=", "/home")):
            return self.front(request)
        way = self.rng("way").choice(["/", "/", f"http://{self.host}/", "/index.php?from=", "/home"])
        return moved(way + urllib.parse.quote(path) if way.endswith("=") else way, self.rng("status").choice([301, 302]))

    now = missing


class ToSearch(Site):
    """A redirect to a search for the words of the path, which finds nothing, or something else."""

    truth, links, alive_share = "soft_404", 5, 0.2
    nothing = {"en": "Your search for “{}” did not match any documents.", "de": "Ihre Suche nach „{}“ ergab leider keine Treffer.",
               "fr": "Aucun résultat pour « {} ».", "es": "Su búsqueda «{}» no produjo resultados.", "ru": "По запросу «{}» ничего не найдено.",
               "ja": "「{}」に一致する情報は見つかりませんでした。"}
    some = {"en": "{} results for “{}”", "de": "{} Ergebnisse für „{}“", "fr": "{} résultats pour « {} »", "es": "{} resultados para «{}»",
            "ru": "Найдено {} по запросу «{}»", "ja": "「{1}」の検索結果 {0}件"}

    def missing(self, path, request):
        if not path.startswith("/search?"):
            terms = " ".join(part for part in urllib.parse.unquote(path).replace(".html", "").replace("-", "/").replace("_", "/").split("/") if part)
            return moved("/search?" + urllib.parse.urlencode({"q": terms, "src": "404"}))
        terms = html.escape(urllib.parse.parse_qs(path.split("?", 1)[1]).get("q", [""])[0])
        found = titles(self, self.rng("found", path), self.rng("found", path).randint(3, 9))
        if self.rng("finds").random() < 0.5:
            body = f"<p>{self.nothing[self.language.code].format(terms)}</p>"
        else:
            body = f"<p>{self.some[self.language.code].format(len(found), terms)}</p><ol>{links(found)}</ol>"
        return framed(self, words(self)[3], f'<form action="/search"><input name="q" value="{terms}"></form>{body}', request)

    now = missing


class Removed(Site):
    """A notice that this article was removed. Other paths are right 404 in one half of the sites."""

    truth, links, alive_share = "soft_404", 8, 0.25
    paths = ("/{w}/article{k}.ece", "/{y}/{w}-{w}-{k}.html", "/news/story.php?id={k}")
    notices = {
        "en": (("Article no longer available", "This article has been removed from our site because our licence to publish it has expired."),
               ("Story expired", "The story you requested is more than 30 days old and is available in our paid archive only.")),
        "de": (("Artikel nicht mehr verfügbar", "Dieser Artikel ist aus rechtlichen Gründen nicht mehr abrufbar. Wir bitten um Ihr Verständnis."),
               ("Beitrag gelöscht", "Der Beitrag wurde nach Ablauf der Verweildauer aus unserem Angebot entfernt.")),
        "fr": (("Article supprimé", "Cet article n'est plus en ligne. Il a été retiré à la demande de l'agence."),),
        "es": (("Noticia no disponible", "Esta noticia ha sido retirada o ya no está disponible en nuestra hemeroteca."),),
        "ru": (("Материал удалён", "Эта статья снята с публикации или перенесена в закрытый архив."),),
        "ja": (("記事の掲載は終了しました", "お探しの記事は掲載期間が終了したため、表示できません。"),),
    }

    def now(self, path, request):
        title, text = self.rng("notice").choice(self.notices[self.language.code])
        return framed(self, title, f"<p>{text}</p><ul>{links(titles(self, self.rng('list'), 4))}</ul>", request)

    def missing(self, path, request):
        return self.now(path, request) if self.rng("all").random() < 0.5 else super().missing(path, request)


def shell(site, request):
    """The frame of an application, which a script fills."""
    build = site.rng("build").getrandbits(40)
    return page(f"""<!doctype html><html lang="{site.language.code}"><head><meta charset="utf-8"/><title>{site.name}</title>
<link rel="icon" href="/favicon.ico"/>
<script defer="defer" src="/static/js/main.{build:010x}.js" nonce="{request.getrandbits(64):016x}"></script>
<link href="/static/css/main.{build % 9973:08x}.css" rel="stylesheet"></head>
<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>""")


class ApplicationGone(Site):
    """The site became an application. Its script knows none of the old paths, and says so; the server sends one frame for all."""

    truth, links = "soft_404", 5

    def missing(self, path, request):
        return shell(self, request)

    now = missing

    def front(self, request):
        return shell(self, request)


class RenderedGone(Site):
    """An application that the server draws: its page for nothing, with the data of the request, and status 200."""

    truth, links, alive_share = "soft_404", 4, 0.3

    def missing(self, path, request):
        title, text = self.rng("lost").choice(LOST[self.language.code])
        build = self.rng("build").getrandbits(60)
        data = f'{{"props":{{"pageProps":{{"statusCode":404}}}},"page":"/_error","query":{{"slug":"{html.escape(path)}"}},"buildId":"{build:015x}"}}'
        return page(f"""<!DOCTYPE html><html lang="{self.language.code}"><head><meta charSet="utf-8"/><title>{self.name}</title>
<meta name="next-head-count" content="2"/></head>
<body><div id="__next"><header><a href="/">{self.name}</a>{links(menu(self), item="{}")}</header><main><h2>{title}</h2><p>{text}</p></main></div>
<script id="__NEXT_DATA__" type="application/json">{data}</script></body></html>""")

    now = missing


class MenusAroundNothing(Site):
    """A content management whose page for nothing is nearly all menus, teasers and what is read most."""

    truth, links, alive_share = "soft_404", 8, 0.25

    def missing(self, path, request):
        title, text = self.rng("lost").choice(LOST[self.language.code])
        fresh = titles(self, request, 5)
        body = f'<p class="lead">{text}</p><div class="latest"><ul>{links(fresh)}</ul></div>{advertisements(self, request, 2)}'
        return framed(self, self.rng("titled").choice([title, self.name]), body, request, theme_portal)

    now = missing


class ToLogin(Site):
    """Pages that are gone lead to a login, as a groupware does with what it does not know. The pages that are there are public."""

    truth, links, alive_share = "soft_404", 5, 0.3
    login = {"en": "Log in|User name|Password|Please log in to access this page.",
        "de": "Anmelden|Benutzername|Passwort|Bitte melden Sie sich an, um diese Seite zu sehen.",
             "fr": "Connexion|Identifiant|Mot de passe|Vous devez vous identifier pour accéder à cette page.",
             "es": "Acceder|Usuario|Contraseña|Inicie sesión para ver esta página.",
                 "ru": "Вход|Логин|Пароль|Для просмотра страницы необходимо войти.",
             "ja": "ログイン|ユーザー名|パスワード|このページを表示するにはログインしてください。"}

    def missing(self, path, request):
        if path.startswith("/login"):
            title, user, password, text = self.login[self.language.code].split("|")
            return framed(self, title, f"""<p>{text}</p><form method="post">
<input type="hidden" name="authenticity_token" value="{request.getrandbits(160):040x}">
<input type="hidden" name="next" value="{html.escape(path[12:])}"><label>{user} <input name="u"></label>
<label>{password} <input type="password" name="p"></label>
<button>{title}</button></form>""", request)
        return moved(f"/login?next={urllib.parse.quote(path, safe='')}")

    now = missing


class RefreshToFront(Site):
    """A page that leads a browser to the front page after some seconds."""

    truth, links = "soft_404", 4
    texts = {"en": "Our web site has a new structure. You will be taken to our home page in {} seconds.",
        "de": "Unsere Seiten sind umgezogen. Sie werden in {} Sekunden zur Startseite weitergeleitet.",
             "fr": "Notre site a changé. Vous allez être redirigé vers l'accueil dans {} secondes.",
                 "es": "Nuestra web ha cambiado. En {} segundos será redirigido a la página de inicio.",
             "ru": "Сайт обновлён. Через {} секунд вы перейдёте на главную страницу.", "ja": "サイトをリニューアルしました。{}秒後にトップページへ移動します。"}

    def missing(self, path, request):
        seconds = self.rng("seconds").choice([0, 3, 5, 10])
        text = self.texts[self.language.code].format(seconds)
        return page(f'<html><head><title>{self.name}</title><meta http-equiv="refresh" content="{seconds}; url=/"></head><body><p>{text}</p>'
            f'<a href="/">{words(self)[0]}</a></body></html>')

    now = missing


class ForumTopicGone(Site):
    """A forum that says in its own frame that a topic is not there. The server says 404 to other paths."""

    truth, links, alive_share, most_links = "soft_404", 6, 0.3, 3
    paths = ("/viewtopic.php?t={k}", "/forum/showthread.php?t={k}", "/cgi-bin/ultimatebb.cgi?ubb=get_topic&t={k}")
    texts = {"en": ("Information", "The topic or post you requested does not exist"), "de": ("Information",
        "Das Thema oder der Beitrag existiert nicht."),
             "fr": ("Informations", "Le sujet ou message que vous recherchez n'existe pas"), "es": ("Información",
                 "El tema o mensaje que ha solicitado no existe"),
             "ru": ("Информация", "Темы или сообщения, которые вы запросили, не существуют"), "ja": ("お知らせ", "指定されたトピックは存在しません")}

    def now(self, path, request):
        title, text = self.texts[self.language.code]
        return page(f"""<html><head><title>{self.name} :: {title}</title></head><body><table class="bodyline"><tr><td>
<a href="index.php?sid={request.getrandbits(128):032x}">{self.name}</a>
<span class="gensmall">{clock(request)}</span></td></tr></table><table class="forumline"><tr><th>{title}</th></tr><tr>
<td class="row1" align="center"><br/>{text}<br/></td></tr></table>
<div class="copyright">Powered by phpBB &copy; 2001, 2005 phpBB Group</div></body></html>""")


class MembersPagesClosed(Site):
    """A provider closed the pages of its customers, and says so under each address."""

    truth, links = "soft_404", 4
    languages, paths = ("en", "de", "fr", "ja"), ("/~{w}/", "/{w}/{w}.html", "/homepages/{w}/index.html")
    texts = {"en": ("Personal Web Space has closed",
        "The Personal Web Space service was closed in 2014. Pages of members are no longer available. If you are the owner, you can ask for a copy."),
             "de": ("Dienst eingestellt", "Der Dienst „Private Homepages“ wurde zum 30. Juni 2014 eingestellt. Die Seiten unserer Kunden sind "
                 "nicht mehr erreichbar."),
             "fr": ("Fermeture du service", "Le service Pages Perso a été fermé définitivement. Les sites hébergés ne sont plus accessibles."),
             "ja": ("サービス終了のお知らせ", "ホームページサービスは終了いたしました。長らくのご利用ありがとうございました。")}

    def missing(self, path, request):
        title, text = self.texts[self.language.code]
        return framed(self, title, f"<p>{text}</p>", request, theme_bootstrap)

    now = missing

    def front(self, request):
        return self.missing("/", request)


class Unused(Site):
    """Space at a provider without a site: its placeholder for all paths. Not parked: nobody offers the name, or earns by it."""

    truth, links, most_links, languages = "soft_404", 5, 2, ("en",)
    texts = [
        ("SORRY! | {host}", "<h1>SORRY!</h1><p>If you are the owner of this website, please contact your hosting provider: webmaster@{host}</p>"
            "<p>It is possible you have reached this page because: The IP address has changed. There has been a server misconfiguration. The site "
                "may have been moved to a different server.</p>"),
        ("Account Suspended", "<h1>Account Suspended</h1><p>This Account has been suspended.</p><p>"
            "<a href='mailto:support@{host}'>Contact your hosting provider</a> for more information.</p>"),
        ("Default Web Site Page", "<h1>Apache is functioning normally</h1>"
            "<p>This is the default page for {host}. The web site owner has not uploaded a page yet. Powered by cPanel, Inc.</p>"),
        ("Welcome to {host}", "<h2>This site is under construction</h2>"
            "<p>Plesk has set up this page. To replace it, upload your files to the httpdocs folder.</p>"),
    ]

    def missing(self, path, request):
        title, text = self.rng("text").choice(self.texts)
        return page(f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{text}</body></html>".replace("{host}", self.host))

    now = missing

    def front(self, request):
        return self.missing("/", request)


class UnusedFront(Unused):
    """The placeholder of a web server at the front page, which the link names. Other paths are right 404."""

    links, paths, most_links = 3, ("/",), 1
    texts = [("Welcome to nginx!",
        "<h1>Welcome to nginx!</h1><p>If you see this page, the nginx web server is successfully installed and working. Further configuration is "
            "required.</p>"),
             ("Apache2 Debian Default Page: It works",
                 "<h1>Apache2 Debian Default Page</h1>"
                     "<p>This is the default welcome page used to test the correct operation of the Apache2 server after installation on Debian "
                         "systems. If you can read this page, it means that the Apache HTTP server installed at this site is working properly.</p>")]

    def now(self, path, request):
        return Unused.missing(self, path, request)

    def missing(self, path, request):
        return hard_404(self, path, request)


# Parked.


class ParkedSite(Site):
    truth, links, most_links = "parked", 0, 2

    def domain(self):
        return self.host.split(".", 1)[1] if self.host.startswith(("www.", "home.")) else self.host

    def missing(self, path, request):
        return self.now(path, request)

    def front(self, request):
        return self.now("/", request)


class ParkedByRegistrar(ParkedSite):
    """The page that a registrar shows for a name without a site."""

    links = 8
    # Firm, its host, what its page says; below, offers of all.
    pages_of = {
        "en": (("Gandi", "www.gandi.net", "This domain name has been registered with Gandi.net. It is currently parked by the owner."),
               ("GoDaddy", "www.godaddy.com", "Welcome to: {domain}. This Web page is parked for FREE, courtesy of GoDaddy.com."),
               ("Namecheap", "www.namecheap.com",
                   "{domain} Registered at Namecheap.com. This domain is registered at Namecheap. It was recently registered; please check back "
                       "later!"),
               ("Network Solutions", "www.networksolutions.com",
                   "{domain} is coming soon. This page is under construction. Is this your domain? Build your web site at Network Solutions.")),
        "de": (("united-domains", "www.united-domains.de",
            "{domain} – Domain im Kundenauftrag registriert. Diese Domain wurde im Kundenauftrag durch die united-domains AG registriert."),
               ("STRATO", "www.strato.de", "Diese Domain ist bereits vergeben. Hier entsteht eine neue Internetpräsenz unseres Kunden."),
               ("IONOS", "www.ionos.de", "Diese Domain wurde soeben für unseren Kunden registriert. Hier entsteht eine neue Internetpräsenz.")),
        "fr": (("OVHcloud", "www.ovhcloud.com", "Félicitations ! Votre domaine a bien été créé chez OVHcloud !"),
               ("Gandi", "www.gandi.net", "Ce nom de domaine a été enregistré chez Gandi.net. Il est actuellement réservé par son propriétaire.")),
        "es": (("DonDominio", "www.dondominio.com", "Este dominio ha sido registrado en DonDominio. El titular no ha publicado aún su página web."),
               ("Arsys", "www.arsys.es", "Dominio registrado. Página de parking por cortesía de arsys.")),
        "ru": (("REG.RU", "www.reg.ru", "Домен {domain} зарегистрирован и припаркован. Сайт пока не создан."),
               ("RU-CENTER", "www.nic.ru", "Домен {domain} зарегистрирован в RU-CENTER и припаркован на его серверах.")),
        "ja": (("お名前.com", "www.onamae.com", "このドメインは、お名前.comで取得されています。"), ("ムームードメイン", "muumuu-domain.com", "{domain} はムームードメインで取得されたドメインです。")),
    }
    offers = {"en": "Domains|Web hosting|E-mail|SSL certificates", "de": "Domains|Webhosting|E-Mail|SSL-Zertifikate",
        "fr": "Domaines|Hébergement|E-mail|Certificats SSL",
              "es": "Dominios|Alojamiento|Correo|Certificados SSL", "ru": "Домены|Хостинг|Почта|SSL-сертификаты", "ja": "ドメイン|レンタルサーバー|メール|SSL証明書"}

    def now(self, path, request):
        firm, host, text = self.rng("registrar").choice(self.pages_of[self.language.code])
        text = text.format(domain=self.domain())
        offers = "".join(f'<li><a href="https://{host}/{number}">{offer}</a></li>'
            for number, offer in enumerate(self.offers[self.language.code].split("|")))
        return page(f"""<!DOCTYPE html><html><head><meta charset="utf-8"><title>{self.domain()}</title>
<style>body{{font-family:sans-serif;text-align:center}}</style></head>
<body><div class="logo"><a href="https://{host}/?utm_source=parking&amp;utm_campaign={self.domain()}">
<img src="https://{host}/img/logo.svg" alt="{firm}"></a></div><h1>{self.domain()}</h1><p>{text}</p>
<ul>{offers}</ul><p class="small">© 2026 {firm}</p></body></html>""")


class ForSale(ParkedSite):
    """An offer of the name: on a page of a marketplace, of the seller's own, or at the marketplace itself."""

    links = 9
    texts = {
        "en": ("The domain {domain} is for sale!", "Buy now for ${price} or make an offer. Free transaction support, secure payments.",
            "Get this domain"),
        "de": ("Die Domain {domain} steht zum Verkauf!",
            "Kaufpreis: {price} EUR. Der Inhaber bietet diese Domain zum Kauf an. Jetzt Gebot abgeben.", "Domain kaufen"),
        "fr": ("Le domaine {domain} est à vendre !", "Achetez ce nom de domaine pour {price} EUR ou faites une offre au vendeur.",
            "Acheter ce domaine"),
        "es": ("¡El dominio {domain} está en venta!", "Compre este dominio por {price} EUR o haga una oferta.", "Comprar dominio"),
        "ru": ("Домен {domain} продаётся!", "Цена: {price} руб. Вы можете купить этот домен или предложить свою цену.", "Купить домен"),
        "ja": ("ドメイン {domain} は販売中です", "このドメインは {price} 円で購入できます。お気軽にお問い合わせください。", "購入する"),
    }

    def now(self, path, request):
        rng = self.rng("sale")
        domain, price = self.domain(), rng.choice([495, 1495, 2888, 12500])
        title, text, button = (text.format(domain=domain, price=price) for text in self.texts[self.language.code])
        way = rng.choice(["away", "market", "market", "own", "own"])
        if way == "away":
            return moved(f"http://dan.com/buy-domain/{domain}?redirected=true&tld={domain.rsplit('.', 1)[1]}")
        if way == "market":
            service = rng.choice(["sedo", "afternic", "dan"])
            link = {"sedo": f"https://sedo.com/search/details/?domain={domain}", "afternic": f"https://www.afternic.com/forsale/{domain}",
                "dan": f"https://dan.com/buy-domain/{domain}"}[service]
            return page(f"""<!doctype html><html lang="{self.language.code}"><head><title>{domain}</title>
<meta name="description" content="{title}"><meta name="robots" content="noindex"></head>
<body><main class="lander"><h1>{title}</h1><p>{text}</p><a class="btn" href="{link}">{button}</a><p>Trustpilot 4.{rng.randint(2, 9)}</p></main>
<footer>© 2026 {service.capitalize()}. <a href="/privacy">Privacy Policy</a></footer>
<script>window.__sid="{request.getrandbits(64):016x}"</script></body></html>""")
        return page(f"""<html><head><title>{title}</title></head><body bgcolor="#eeeeee"><center><h1>{domain}</h1><h3>{title}</h3><p>{text}</p>
<form method="post"><input name="name"><input name="mail"><textarea name="offer"></textarea><input type="submit" value="{button}"></form>
<p>sales@{rng.choice(['domains', 'names', 'broker'])}.example</p></center></body></html>""")


class Market(ParkedSite):
    """The marketplace that offers of names lead to."""

    def now(self, path, request):
        name = path.split("?")[0].rsplit("/", 1)[1]
        return page(f"""<!doctype html><html><head><title>{name} domain name is for sale. Inquire now.</title></head><body><h1>{name}</h1>
<p>This domain is for sale</p>
<p>Buy now: ${1000 + sum(map(ord, name))}. Lease to own available. Buyer protection program.</p><small>{clock(request)}</small></body></html>""")


class PayPerClick(ParkedSite):
    """Advertisements by keyword, some of them named after the name. They come with the request."""

    links = 8
    topics = {"en": "Car Insurance|Credit Cards|Cheap Flights|Online Degrees|Dentist Near Me|Web Hosting|Home Loans|Used Cars|Hotel Deals|Weight "
        "Loss|Project Management Software",
              "de": "Kfz Versicherung|Günstige Flüge|Kredit Vergleich|Webhosting|Hotel Angebote|Zahnarzt|Online "
                  "Studium|Gebrauchtwagen|Stellenangebote",
              "fr": "Assurance Auto|Crédit Immobilier|Vols Pas Chers|Hébergement Web|Formation en Ligne|Mutuelle Santé|Voiture Occasion",
              "es": "Seguro de Coche|Vuelos Baratos|Tarjetas de Crédito|Alojamiento Web|Cursos Online|Hoteles|Coches de Ocasión",
              "ru": "Автострахование|Кредитные карты|Дешёвые авиабилеты|Хостинг|Отели|Пластиковые окна|Работа",
                  "ja": "自動車保険|クレジットカード|格安航空券|レンタルサーバー|ホテル予約|転職"}
    heads = {"en": ("Related Searches",
        "This page is provided courtesy of the domain owner. The domain owner maintains no relationship with the advertisers.", "Privacy Policy"),
             "de": ("Verwandte Suchbegriffe",
                 "Die hier angezeigten Sponsored Listings werden von dritter Seite automatisch generiert und stehen weder mit dem Domaininhaber "
                     "noch mit dem Dienstanbieter in irgendeiner Beziehung.", "Datenschutz"),
             "fr": ("Recherches associées", "Les liens sponsorisés affichés sont générés automatiquement par un tiers.", "Confidentialité"),
             "es": ("Búsquedas relacionadas", "Los enlaces patrocinados son generados automáticamente por terceros.", "Privacidad"),
             "ru": ("Похожие запросы", "Рекламные ссылки создаются автоматически третьей стороной.", "Конфиденциальность"),
             "ja": ("関連する検索", "表示されている広告は第三者により自動的に生成されたものです。", "プライバシー")}
    services = [
        '<script src="https://www.google.com/adsense/domains/caf.js?abp=1"></script>'
            '<link rel="stylesheet" href="//img.sedoparking.com/templates/bg/style.css">',
        '<script src="https://www.google.com/adsense/domains/caf.js"></script>'
            '<script src="https://d38psrni17bvxu.cloudfront.net/scripts/js3caf.js"></script>',
        '<link rel="preconnect" href="https://www.google.com"><script src="/bJvWxWPYE.js"></script>'
            '<img src="https://px.bodis.com/px.gif?ch=1" hidden>',
        '<script src="//c.parkingcrew.net/scripts/sale_form.js"></script><link rel="stylesheet" href="//c.parkingcrew.net/assets/style.css">',
        '<script src="https://img1.wsimg.com/parking-lander/static/js/main.d9ebbb8c.js"></script>', ""]

    def now(self, path, request):
        rng = self.rng("ads")
        head, note, privacy = self.heads[self.language.code]
        topics = self.topics[self.language.code].split("|")
        shown = request.sample(topics, min(rng.randint(5, 10), len(topics)))
        items = "".join(f'<li><a href="/?tm=1&amp;kw={urllib.parse.quote(topic)}&amp;ssc={request.getrandbits(48):x}">{topic}</a></li>'
            for topic in shown)
        return page(f"""<!DOCTYPE html><html><head><meta charset="utf-8">
<title>{rng.choice([self.domain(), f"{self.domain()} - {shown[0]}"])}</title>{rng.choice(self.services)}
<script>var pid="{request.getrandbits(80):020x}",ts={request.randrange(10**12)};</script></head><body class="main"><h1>{self.domain()}</h1>
<div id="ads"><h2>{head}</h2><ul>{items}</ul></div>
<form action="/" method="get"><input name="q"></form><footer><p>{rng.choice([note, note, ""])}</p>
<p>2026 Copyright. <a href="/privacy.html">{privacy}</a></p></footer></body></html>""")


class Expired(ParkedSite):
    """The notice that a registration has expired, under each address."""

    links = 5
    texts = {"en": ("This domain has expired",
        "{domain} expired on {day} and is pending renewal or deletion. If you are the registrant, renew it now at {firm}."),
             "de": ("Domain abgelaufen", "Die Registrierung von {domain} ist am {day} abgelaufen. Inhaber können die Domain bei {firm} noch "
                 "verlängern."),
             "fr": ("Domaine expiré", "Le nom de domaine {domain} a expiré le {day}. Si vous en êtes le titulaire, renouvelez-le chez {firm}."),
             "es": ("Dominio caducado", "El dominio {domain} caducó el {day}. Si usted es el titular, renuévelo en {firm}."),
             "ru": ("Срок регистрации домена истёк", "Срок регистрации домена {domain} истёк {day}. Продлить домен можно в {firm}."),
             "ja": ("ドメインの有効期限切れ", "{domain} は {day} に有効期限が切れました。{firm} にて更新手続きを行ってください。")}

    def now(self, path, request):
        rng = self.rng("expired")
        title, text = self.texts[self.language.code]
        host = rng.choice(["www.namecheap.com", "www.enom.com", "www.register.com", "www.nic.ru", "www.networksolutions.com"])
        text = text.format(domain=self.domain(), firm=host, day=f"{rng.randint(1, 28)}.{rng.randint(1, 12)}.2026")
        return page(f"""<html><head><title>{title}</title><meta http-equiv="cache-control" content="no-cache"></head><body><div><h1>{title}</h1>
<p>{text}</p>
<a href="https://{host}/renew?d={self.domain()}&amp;t={request.randrange(10**10)}">{host}</a></div></body></html>""")


# Taken over.


class NewOwner(Site):
    """Another owner: in a language and on a subject of its own, with another name and layout."""

    truth, links, captured_after, most_links = "taken_over", 0, 0.5, 2
    paths = ("/", "/", "/index.html", "/{w}.html", "/{w}/", "/{y}/{w}-{w}.html")
    # The languages of the new owner; without them, that of the old one.
    new_languages = None

    def __init__(self, *args):
        super().__init__(*args)
        self.new = Site(*args)
        rng = self.rng("new owner")
        code = rng.choice(self.new_languages or [self.language.code])
        self.language, self.new.language = self.language.voice(0), LANGUAGES[code].voice(1)
        subjects = [subject for subject in self.new.language.subjects if subject != self.subject]
        self.new.subject = rng.choice(subjects)
        self.new.names = [self.new.language.coin(rng) for _ in range(14)]
        self.new.name = f"{self.new.language.coin(rng)} {self.new.language.subjects[self.new.subject][rng.randrange(10)].capitalize()}"
        self.new.theme = rng.choice([theme_blog, theme_portal, theme_bootstrap])
        self.new.truths = self.truths

    def now(self, path, request):
        return self.new.article(path, request)

    def missing(self, path, request):
        return hard_404(self.new, path, request)

    def front(self, request):
        return front(self.new, request)


class Casino(NewOwner):
    """Games of chance, which want the links that the old owner earned."""

    links = 6
    languages = ("en", "de", "fr", "es", "ru")
    games = {"en": "slots|jackpot|roulette|free spins|welcome bonus|blackjack|live dealer|deposit|wagering|betting odds",
        "de": "Spielautomaten|Freispiele|Willkommensbonus|Einzahlung|Roulette|Jackpot|Sportwetten|Umsatzbedingungen",
             "fr": "machines à sous|tours gratuits|bonus de bienvenue|roulette|dépôt|jackpot|paris sportifs",
                 "es": "tragaperras|giros gratis|bono de bienvenida|ruleta|depósito|apuestas",
                     "ru": "слоты|фриспины|бонус|рулетка|депозит|джекпот|ставки"}
    titles = {"en": "Best Online {} 2026 – Play {}", "de": "Online Casino: {} und {} im Test", "fr": "Casino en ligne : {} et {}",
        "es": "Casino online: {} y {}", "ru": "Онлайн казино: {} и {}"}

    def now(self, path, request):
        rng, code = self.rng("casino", path), self.language.code
        games = self.games[code].split("|")
        old = self.language.subjects[self.new.subject]
        text = "".join(f"<h2>{rng.choice(games).capitalize()}</h2><p>{self.new.language.paragraph(rng, games + old[:3], self.new.names)}</p>"
            for _ in range(rng.randint(3, 8)))
        return framed(self.new, self.titles[code].format(*(game.title() for game in rng.sample(games, 2))), text, request)


class OtherFirm(NewOwner):
    """A firm of another trade, with its offer, opening hours and telephone."""

    links = 6
    trades = {"en": ("Dental Care|Plumbing|Roofing|Yoga Studio",
        "Book an appointment today|Family owned and insured|Call for a free quote|Our team has 20 years of experience|What our customers say"),
              "de": ("Zahnarztpraxis|Dachdecker|Umzüge|Yogastudio",
                  "Vereinbaren Sie einen Termin|Familienbetrieb in dritter Generation|Kostenloses Angebot|Das sagen unsere Kunden|Unsere Leistungen"),
              "fr": ("Cabinet dentaire|Plomberie|Serrurier|Salon de coiffure",
                  "Prenez rendez-vous|Devis gratuit|Nos prestations|Avis de nos clients"),
              "es": ("Clínica dental|Fontanería|Mudanzas|Peluquería", "Pida cita|Presupuesto sin compromiso|Nuestros servicios|Opiniones"),
              "ru": ("Стоматология|Натяжные потолки|Грузоперевозки|Салон красоты",
                  "Запишитесь на приём|Бесплатный расчёт|Наши услуги|Отзывы клиентов"),
              "ja": ("歯科医院|引越しセンター|美容室|水道修理", "ご予約はこちら|無料お見積り|サービス内容|お客様の声")}

    def now(self, path, request):
        rng = self.rng("firm", path)
        trades, lines = (text.split("|") for text in self.trades[self.new.language.code])
        trade = self.rng("trade").choice(trades)
        title = self.new.name = f"{self.new.language.coin(self.rng('town'))} {trade}"
        body = "".join(f"<section><h2>{line}</h2><p>{self.new.language.paragraph(rng, self.new.subject, self.new.names, 1, 3)}</p></section>"
            for line in rng.sample(lines, len(lines) - 1))
        return framed(self.new, title, f"{body}<p>Tel. 0{self.rng('tel').randint(10**8, 10**9)}</p>", request)


class OtherBlog(NewOwner):
    """A blog on another subject, under the old name."""

    links = 5


class Translated(NewOwner):
    """A firm abroad, in another language."""

    links = 4
    new_languages = ("ja", "ru")
    languages = ("en", "de", "fr", "es")


# Living pages.


class Article(Site):
    """Articles of all lengths and layouts."""

    links = 14


class LargeLayoutShortArticle(Site):
    """An article of one or two sentences in a layout of forty links. Paths that no link has show this layout, with status 404."""

    links = 8

    def article(self, path, request, theme=None):
        title, _ = self.text(path)
        body = self.language.paragraph(self.rng("short", path), self.subject, self.names, 1, 2)
        return framed(self, title, f"<p>{body}</p>", request, theme_portal)

    def missing(self, path, request):
        title, text = self.rng("lost").choice(LOST[self.language.code])
        return page(theme_portal(self, title, f"<p>{text}</p>", request), 404)


class AboutErrors(Site):
    """A guide to the very subject: broken links, status 404 and pages that are not found."""

    links, languages = 4, ("en", "de")
    words = {"en": "404 page|status code|broken link|redirect|web server|error document|crawler|file not found message|Apache|moved page",
             "de": "Fehlerseite|Statuscode|Weiterleitung|Webserver|Verweis|Suchmaschine|Fehler 404|Seite nicht gefunden|Crawler"}
    titles = {"en": ("How to design a useful 404 page", "Soft 404s explained", "What does “404 Not Found” mean?",
        "Fixing broken links after a relaunch"),
              "de": ("Fehler 404: Was bedeutet „Seite nicht gefunden“?", "Die perfekte Fehlerseite", "Tote Links finden und beheben")}

    def text(self, path):
        rng, code = self.rng("text", path), self.language.code
        text = "".join(f"<p>{self.language.paragraph(rng, self.words[code].split('|'), ['Apache', 'IIS', *self.names])}</p>"
            for _ in range(rng.randint(3, 8)))
        return rng.choice(self.titles[code]), text


class BrokersBlog(Site):
    """Somebody who trades in names writes about sales, parking and expired domains."""

    links, languages = 4, ("en",)
    lines = ["I sold {d} for ${k} at Sedo last week; the buyer came through a for sale lander.",
        "Is domain parking still worth it? My {k} parked names earned less than a dinner in {y}.",
             "When a domain has expired, you have {k} days to renew it before it is deleted.",
                 "Afternic and Dan merged their landers, and this domain is for sale pages now look the same.",
             "Ask yourself why the owner of {d} would sell, and make an offer by mail first.",
                 "Bodis paid {k} dollars for the related searches of one name.",
             "The broker who sold {d} told me that end users never read the parking page.",
                 "I bought {d} at the drop in {y} and let it expire again.",
             "Sponsored listings are shown by a feed of Google, and the service keeps {k} percent."]

    def text(self, path):
        rng = self.rng("text", path)
        lines = [rng.choice(self.lines).format(d=f"{self.language.coin(rng)}.com", k=rng.randint(12, 9000), y=rng.randint(1999, 2004))
            for _ in range(rng.randint(8, 20))]
        title = rng.choice(["notes of a domain investor", "what parking pays", "how I sold it"])
        return f"{self.language.coin(rng)}: {title}", "".join(f"<p>{a} {b}</p>" for a, b in zip(lines[::2], lines[1::2]))


class Redesigned(Site):
    """The same text in a new layout, with a new name of the site and other links around it."""

    links, redesigned_share = 8, 1.0

    def then(self, path, year):
        return self.article(path, self.rng("then"), theme_plain if self.theme is not theme_plain else theme_tables)


class Wiki(Site):
    """A wiki. Pages that are not there have status 404 and an invitation to write them."""

    links, paths = 6, ("/wiki/{w}_{w}", "/index.php/{w}", "/wiki/{w}{k}")

    def frame(self, title, body, request, status=200):
        return page(f"""<!DOCTYPE html><html class="client-nojs" lang="{self.language.code}"><head><meta charset="UTF-8"/>
<title>{title} - {self.name}</title><meta name="generator" content="MediaWiki 1.35.14"/>
<script>RLCONF={{"wgRequestId":"{request.getrandbits(96):024x}","wgCSPNonce":!1}};</script></head><body><h1 id="firstHeading">{title}</h1>
<div id="mw-content-text">{body}</div>
<div id="mw-navigation"><ul>{links([(words(self)[0], "/wiki/Main_Page"), ("Recent changes", "/wiki/Special:RecentChanges"), *menu(self)])}</ul></div>
<footer><li>This page was last edited on {self.rng(title).randint(1, 28)} March 2015.</li><li>Content is available under CC BY-SA.</li></footer>
</body></html>""", status)

    def article(self, path, request, theme=None):
        title, body = self.text(path)
        return self.frame(title, body, request)

    def missing(self, path, request):
        name = html.escape(path.rsplit("/", 1)[1])
        return self.frame(name, f'<div class="noarticletext">'
            f'<p>There is currently no text in this page. You can <a href="/wiki/Special:Search/{name}">search for this page title</a> in other '
                f'pages, or create this page.</p></div>', request, 404)


class FrontPageCited(Site):
    """The front page, cited as such. One half of the sites leads all that is missing to it."""

    links, paths, most_links, truth = 9, ("/",), 1, "living"

    def now(self, path, request):
        return self.front(request)

    def missing(self, path, request):
        return moved("/") if self.rng("leads").random() < 0.5 else super().missing(path, request)

    def then(self, path, year):
        return framed(self, self.name, f"<p>{self.language.paragraph(self.rng('front'), self.subject, self.names)}</p>", self.rng("then", year),
            self.old_theme)


class UsedCars(Site):
    """A dealer's pages, full of what is for sale, at prices of the day."""

    links, languages, truth, paths = 5, ("en", "de", "fr"), "changed", ("/stock/{w}.html", "/cars.php?page={k}", "/occasion/")
    texts = {"en": ("Used cars for sale", "for sale", "Make an offer", "miles"), "de": ("Gebrauchtwagen zu verkaufen", "steht zum Verkauf",
        "Angebot machen", "km"),
             "fr": ("Voitures à vendre", "à vendre", "Faire une offre", "km")}

    def now(self, path, request, year=2026):
        title, sale, offer, unit = self.texts[self.language.code]
        rng = self.rng("cars", path, year)
        body = ""
        for _ in range(rng.randint(6, 14)):
            car = f"{rng.choice(['Volvo', 'Opel', 'Renault', 'Saab', 'Ford', 'Fiat'])} {rng.choice(self.names)}"
            body += f"""<div class='car'><h3>{car} {sale}</h3><p>{year - rng.randint(2, 9)}, {rng.randint(20, 190)}.000 {unit},
{rng.randint(9, 200)}00 EUR. <a href='/offer?c={rng.randint(1, 9999)}'>{offer}</a></p></div>"""
        return framed(self, f"{title} – {self.name}", body, request)

    def then(self, path, year):
        return self.now(path, self.rng("then", year), year)


class NewsFront(Site):
    """The page of a section of a newspaper: no title of it is there tomorrow."""

    links, truth, paths, most_links = 6, "changed", ("/{w}/", "/news/", "/{w}/index.html"), 2

    def now(self, path, request):
        body = "".join(f"<article><h2><a href='{place}'>{text}</a></h2><p>{self.language.sentence(request, self.subject, self.names)}</p>"
            f"<time>{clock(request)}</time></article>"
                       for text, place in titles(self, request, request.randint(9, 16)))
        return framed(self, f"{path.strip('/').split('/')[0].capitalize()} – {self.name}", body, request, theme_portal)

    def then(self, path, year):
        return self.now(path, self.rng("then", year))


class Multilingual(Site):
    """A page in the language that the server chose this time, with links to the others."""

    links, truth = 4, "living"

    def now(self, path, request):
        code = self.rng("chosen").choice(list(LANGUAGES))
        other = self.rng("other")
        names = [self.language.coin(other) for _ in range(4)] + self.names[:6]
        subject = other.choice(list(LANGUAGES[code].subjects))
        body = "".join(f"<p>{LANGUAGES[code].paragraph(self.rng('translated', path, number), subject, names)}</p>" for number in range(4))
        choice = " | ".join(f'<a hreflang="{other}" href="?lang={other}">{other.upper()}</a>' for other in LANGUAGES)
        return framed(self, f"{self.name} ({code})", f"<div>{choice}</div>{body}", request)

    def then(self, path, year):
        return self.article(path, self.rng("then", year))


class VeryShort(Site):
    """Pages of a line: a number, a greeting, a frameset, a picture."""

    links = 6

    def article(self, path, request, theme=None):
        rng = self.rng("line", path)
        word, name = rng.choice(self.language.subjects[self.subject]), self.language.coin(rng)
        text = rng.choice([f"<p>{name} {word} {rng.randint(2, 4000)}</p>", f'<img src="{word}.gif" alt="{name}">',
            f"<pre>{name}\t{rng.randint(1, 99)}.{rng.randint(0, 9)}\n{word}\t{rng.randint(1, 99)}.{rng.randint(0, 9)}</pre>",
                           f"<p>{self.language.sentence(rng, self.subject, self.names)}</p>"])
        if rng.random() < 0.2:
            return page(f'<html><head><title>{name}</title></head><frameset cols="20%,*"><frame src="menu.html"><frame src="{word}.html">'
                f'<noframes>{name}</noframes></frameset></html>')
        return page(f"<html><head><title>{name}</title></head><body>{text}</body></html>")


class ApplicationLiving(ApplicationGone):
    """An application whose script does show the page: as far as bytes go, it is the same as one whose script does not."""

    truth, links = "living", 4


class LoginForAll(ToLogin):
    """A site that became one for its members: whatever is asked for leads to the login, and to the page for who has one."""

    truth, links, alive_share = "living", 3, 0.0

    def front(self, request):
        return moved("/login?next=%2F")


class ListArchive(Site):
    """A message in the archive of a mailing list."""

    links, paths = 6, ("/pipermail/{w}/2003-March/{k}.html", "/archive/html/{w}/msg{k}.html")

    def article(self, path, request, theme=None):
        title, _ = self.text(path)
        rng = self.rng("message", path)
        lines = "\n".join(f"{rng.choice(['', '&gt; '])}{self.language.sentence(rng, self.subject, self.names)}" for _ in range(rng.randint(4, 20)))
        return page(f"""<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2//EN"><HTML><HEAD><TITLE>[{self.subject}] {title}</TITLE></HEAD><BODY>
<H1>[{self.subject}] {title}</H1><B>{rng.choice(self.names)}</B> <I>Tue Mar {rng.randint(1, 28)} 12:04:11 EST 2003</I>
<UL><LI>Previous message: <A HREF="000{rng.randint(100, 999)}.html">{self.language.title(rng, self.subject, self.names)}</A></LI></UL><HR>
<PRE>{lines}</PRE><HR></BODY></HTML>""")


class OutOfStock(Site):
    """A product that is described still, and not sold any more."""

    links, languages, paths = 4, ("en", "de", "fr", "es"), ("/product/{w}-{k}", "/shop/item.php?sku={k}", "/p/{w}/{w}")
    texts = {"en": "Currently unavailable. We don't know when or if this item will be back in stock.",
        "de": "Derzeit nicht verfügbar. Ob und wann der Artikel wieder vorrätig sein wird, ist unbekannt.",
             "fr": "Actuellement indisponible. Ce produit n'est plus en stock.", "es": "No disponible por el momento. Este producto está agotado."}

    def now(self, path, request):
        title, text = self.text(path)
        return framed(self, title, f'<p class="stock">{self.texts[self.language.code]}</p>{text}', request)


class Paywall(Site):
    """The beginning of an article, and an invitation to subscribe."""

    links, truth, languages = 5, "living", ("en", "de", "fr")
    texts = {"en": "Subscribe to continue reading. Already a subscriber? Log in. From 1 a month, cancel anytime.",
        "de": "Jetzt weiterlesen mit dem Abo. Bereits registriert? Anmelden. Der erste Monat ist kostenlos.",
             "fr": "Il vous reste 90 % de cet article à lire. La suite est réservée aux abonnés. Déjà abonné ? Connectez-vous."}

    def now(self, path, request):
        title, text = self.text(path)
        return framed(self, title, f'{text.split("</p>")[0][:300]}…</p><div class="paywall">{self.texts[self.language.code]}</div>', request,
            theme_portal)


class MovedHost(Site):
    """A site that moved to another path, or another name of the same owner, with its pages."""

    links = 5

    def now(self, path, request):
        return moved(f"/neu{path}", 301)

    def missing(self, path, request):
        return self.article(path.removeprefix("/neu"), request) if path.removeprefix("/neu") in self.truths else super().missing(path, request)


class SoftSiteLiving(CustomError):
    """Pages that are there, on a site that says 200 to all others."""

    links, alive_share = 5, 1.0


KINDS = [CustomError, ToFrontPage, ToSearch, Removed, ApplicationGone, RenderedGone, MenusAroundNothing, ToLogin, RefreshToFront, ForumTopicGone,
    MembersPagesClosed, Unused,
         UnusedFront, ParkedByRegistrar, ForSale, PayPerClick, Expired, Casino, OtherFirm, OtherBlog, Translated, Article,
             LargeLayoutShortArticle, AboutErrors, BrokersBlog,
         Redesigned, Wiki, FrontPageCited, UsedCars, NewsFront, Multilingual, VeryShort, ApplicationLiving, LoginForAll, ListArchive, OutOfStock,
             Paywall, MovedHost, SoftSiteLiving]
# Hosts that redirects lead to.
SERVICES = {"dan.com": Market}
