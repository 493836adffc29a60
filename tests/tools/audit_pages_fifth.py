"""Pages of a Web with known truth, fifth set: other languages, templates, wording, software and hosts than the sets before.

By somebody who has not read what judges them. Definitions of the truth: see `audit_pages_third.py`; they are the same here. What is
there for a while only (a wall that asks for consent or for a browser, maintenance until an hour that is named) is `living`: the page is
behind it. Kinds for which two people could differ are left out.
"""

import base64
import copy
import html
import urllib.parse

from audit_sites import Language, Site

LANGUAGES = {
    "en": Language("en", "com com org net us co.uk com.au info", "ald ber cot dun ell fen gar hol ing jar kirk lam mer nor oak pen rud sel tor "
                   "ulv wen yar", """
Every spring the {A} {N} is taken apart and cleaned by {P}.
Nobody expects a {N} to last beyond {Y}, yet ours did.
{P} asked whether the {N} should be {V} before or after the {N}.
Readers in {P} have {V} {K} examples of this {N} so far.
Between {Y} and the present day, the {N} changed hands {K} times.
You will need one {A} {N}, a second {N} and some patience.
According to {P}, that {N} was never {V} properly.
My grandfather {V} his first {N} near {P}, in a {A} shed.
If a {N} looks {A}, leave it alone and try another {N}.
Meetings about the {N} take place on day {K} in {P}.
The map shows where each {N} stood until it was {V} by {P}.
A {N} of this size is {A}, but {K} more exist.
Please quote number {K} when you write about the {N}.
Few people besides {P} own both a {N} and a {N}.
Older members remember how {P} {V} the {N} with bare hands.
This {A} method works for almost any {N} except the {N}.""",
        "catalogued photographed insured labelled weighed examined donated repaired imported numbered scanned replaced",
        "slow elegant dusty foreign curious splendid ordinary dark robust tiny costly faded sturdy smooth unusual",
        {"bees": "hive swarm queen honey smoker comb apiary drone nectar pollen frame brood sting wax",
         "caves": "cavern stalactite helmet rope passage sump survey chamber lamp gallery limestone shaft entrance boulder",
         "family": "ancestor parish census surname marriage baptism gravestone emigrant pedigree record cousin village descendant heirloom",
         "synths": "oscillator filter sequencer module envelope patch cable amplifier keyboard circuit sample preset knob speaker",
         "bicycles": "saddle chain pedal frame sprocket tyre brake spoke tandem handlebar bottle derailleur bell pannier"}),
    "de": Language("de", "de de at ch com org", "alt bre dorf els fels grün heid ingen kamp lau mühl nied ober quell ried sand tann ulm vor wies", """
Bereits {Y} begann {P} damit, {N} und {N} zu fotografieren.
Manche halten {N} für {A}, andere sehen darin bloß {N}.
Im Keller von {P} lagern {K} Stücke, darunter auch {N}.
Wenn {P} davon erzählt, {V} er stets zuerst {N}.
Die Jugendgruppe aus {P} {V} jeden Monat {K} Mal.
Es dauerte bis {Y}, ehe jemand {N} als {A} erkannte.
Unser Rundbrief Nummer {K} handelt von {N} sowie {N}.
Weil {N} inzwischen {A} geworden ist, {V} man lieber {N}.
Auskunft erteilt {P}, der {N} seit Jahrzehnten {V}.
Bitte bringen Sie {N} mit, denn vor Ort gibt es nur {N}.
Gegenüber {Y} hat sich die Zahl auf {K} verdoppelt.
Niemand außer {P} wusste, dass {N} derart {A} sein kann.""",
        "restauriert katalogisiert übersetzt vermisst betreut verleiht bestaunt vergleicht dokumentiert repariert",
        "robust selten preiswert kurios schlicht heikel beliebt uralt farbig wertvoll mühsam sauber",
        {"funk": "Antenne Frequenz Morsetaste Röhre Sender Empfänger Rufzeichen Relais Diplom Kurzwelle Steckplatz Netzteil",
         "wandern": "Gipfel Hütte Rucksack Wegweiser Etappe Pass Klettersteig Rastplatz Proviant Höhenweg Seilbahn",
         "bier": "Hopfen Malz Sudhaus Gärung Brauer Etikett Fass Krug Ausschank Bierdeckel Hefe"}),
    "fr": Language("fr", "fr fr be ch org com", "aube bois clair dor épine font grand haut isle juvi lau mar nord orge pré riv sol tour val yon", """
Autrefois, {P} possédait un {N} que tout le monde trouvait {A}.
Depuis {Y}, notre bulletin consacre {K} pages à ce {N}.
Si votre {N} paraît {A}, demandez conseil à {P}.
Quiconque {V} un {N} finit par aimer également {N}.
Pendant {K} ans, le {N} de {P} fut oublié dans un grenier.
Cette rubrique {V} chaque semaine un {N} différent.
Malgré son air {A}, le {N} {V} encore les visiteurs.
Nos adhérents {P} et {P} cherchent toujours un {N}.
La photographie prise en {Y} montre un {N} presque {A}.
Comment {P} {V} son {N} reste un mystère.
Après la réunion numéro {K}, chacun repart avec son {N}.
Sans {N}, inutile d'espérer un {N} vraiment {A}.""",
        "photographie traduit fabrique recense restaure collectionne admire démonte cultive raconte",
        "robuste coloré étrange modeste précieux solide bizarre immense délicat ordinaire",
        {"plantes": "herbier pétale racine semis bourgeon feuillage graine tige serre orchidée mousse fougère",
         "vélo": "guidon pédale selle dérailleur peloton étape rayon maillot chaîne cadre sprint",
         "marionnettes": "ficelle castelet costume théâtre spectacle décor pantin coulisse rideau atelier"}),
    "es": Language("es", "es es com cl com.ar org", "ara bel cor don esp fuen gua hue jara luz mon nava olmo pera quin ribe sol tala valle zur", """
Dicen en {P} que aquel {N} resultaba demasiado {A}.
Hacia {Y} nuestro abuelo {V} su primer {N} en {P}.
Si encuentra un {N} {A}, avise cuanto antes a {P}.
Guardamos {K} fotografías del {N}, todas ellas en color.
Durante la reunión número {K}, {P} {V} un {N} distinto.
Pocas personas saben distinguir entre un {N} y otro {N}.
Cualquiera que {V} el {N} comprenderá por qué es {A}.
Nuestro boletín de {Y} dedicaba media página al {N}.
Aunque parezca {A}, ese {N} todavía funciona bien.
Pregunte por {P} cuando necesite otro {N}.
Ningún vecino recuerda {N} alguno anterior a {Y}.
Traiga su propio {N}; nosotros ponemos {N} y {N}.""",
        "fotografía restaura traduce colecciona cataloga admira construye dibuja explica cultiva",
        "robusto colorido extraño modesto valioso sólido inmenso delicado corriente oscuro",
        {"teatro": "escenario telón actriz ensayo vestuario comedia butaca director máscara decorado estreno",
         "rocas": "cuarzo fósil mineral cantera basalto cristal martillo estrato volcán caliza muestra"}),
    "da": Language("da", "dk dk com org", "ager bæk by drup gård holm høj kær lund mose nør old rød skov sted torp vang ø", """
Allerede i {Y} havde {P} et {N}, som folk fandt {A}.
Vores blad nummer {K} handler mest om {N} og {N}.
Hvis et {N} bliver {A}, kan {P} måske hjælpe.
Omkring {K} medlemmer {V} stadig deres {N} hver sommer.
Det varede til {Y}, før nogen {V} et {N} her i {P}.
Husk at tage {N} med, for stedet har kun {N}.
Ingen ved, hvorfor {P} {V} det {A} {N}.
Billedet viser {N} foran huset hos {P}.
Man siger, at hvert {N} har sin egen {A} historie.
Skriv gerne, såfremt du ejer {N} nummer {K}.""",
        "samler fotograferer maler undersøger passer udlåner oversætter bygger",
        "sjælden gammel farverig billig kostbar mærkelig solid enkel",
        {"cykler": "sadel kæde hjul pedal stel bremse lygte styr cykelsti dæk",
         "egnshistorie": "kirkebog gård mølle kro præst landsby foto brev arkivalie matrikel"}),
    "fi": Language("fi", "fi fi com net", "aho har jär kal kan koi lam lep man mie niemi oja paju ran salo tam uusi vaara", """
Vuonna {Y} alueella {P} oli vielä {A} {N}.
Jäsenlehden numero {K} kertoo aiheista {N} ja {N}.
Kun {N} on {A}, kannattaa kysyä neuvoa: {P} auttaa.
Yhdistys {P} {V} joka kesä noin {K} kohdetta.
Kukaan ei muista, milloin {N} viimeksi {V} näin hyvin.
Ota mukaan {N}, sillä paikalla on ainoastaan {N}.
Kuvassa näkyy {N} sekä taustalla {A} {N}.
Lopulta {P} {V} myös vanhan {N} kuntoon.
Jokainen {N} on tavallaan {A}, sanoo {P}.
Lähetä viesti, mikäli sinulla on {N} numero {K}.""",
        "kuvaa kerää tutkii hoitaa lainaa rakentaa esittelee maalaa",
        "harvinainen vanha värikäs halpa arvokas outo vankka hiljainen",
        {"hiihto": "latu suksi sauva voide maja mäki lumi kisa reitti monot",
         "kirjasto": "kirja hylly lainaus lehti luettelo kokoelma tekijä kansi painos sivu"}),
    "cs": Language("cs", "cz cz eu com", "bor brá dol hor jin kam kre lip mos nov pod rad skal tře vrš zle", """
Roku {Y} měla obec {P} ještě {A} {N}.
Zpravodaj číslo {K} pojednává o tématech {N} a {N}.
Pokud je {N} příliš {A}, poradí vám {P}.
Spolek {P} {V} každé léto kolem {K} kusů.
Nikdo netuší, proč {P} tak dlouho {V} právě {N}.
Vezměte si {N} s sebou, na místě bude pouze {N}.
Fotografie ukazuje {N} a vedle něj {A} {N}.
Teprve {Y} někdo poprvé {V} zdejší {N}.
Říká se, že každý {N} bývá trochu {A}.
Napište nám, jestliže vlastníte {N} číslo {K}.""",
        "fotografuje sbírá opravuje zkoumá půjčuje staví maluje popisuje",
        "vzácný starý barevný levný cenný podivný pevný prostý",
        {"hrady": "věž nádvoří brána příkop zřícenina purkrabí hradba studna kaple palác",
         "loutky": "divadlo nit scéna kostým opona řezbář představení hlava kulisa jeviště"}),
    "tr": Language("tr", "com.tr com.tr com org.tr", "ak bey çam dağ el göl han ışık kara koy nar pınar sarı taş yol yurt", """
{Y} yılında {P} köyünde hâlâ {A} bir {N} vardı.
Bültenimizin {K} numaralı sayısı {N} ile {N} hakkındadır.
Eğer {N} çok {A} ise {P} size yardım eder.
{P} derneği her yaz yaklaşık {K} eser {V}.
Kimse {P} ustanın neden {N} {V} sorusunu yanıtlayamadı.
Yanınızda {N} getirin, çünkü burada yalnızca {N} bulunur.
Fotoğrafta {N} ve arkasında {A} bir {N} görülüyor.
İlk kez {Y} baharında birisi bu {N} için yazı yazdı.
Söylenene göre her {N} biraz {A} olur.
Elinizde {K} numaralı {N} varsa lütfen bize yazın.""",
        "topluyor onarıyor inceliyor çiziyor anlatıyor sergiliyor satıyor",
        "nadir eski renkli ucuz değerli tuhaf sağlam sade",
        {"halı": "dokuma desen yün ilmek tezgâh kilim boya motif saçak usta",
         "kazı": "höyük mezar çömlek sikke tapınak kale mozaik yazıt sütun müze"}),
    "el": Language("el", "gr gr com.gr com", "αγ βαλ γαλ δρο ελα θα καλ λαμ μαρ νησ ορ παλ ραχ στα τρι φαν χω", """
Το {Y} υπήρχε ακόμη στην περιοχή {P} ένα {A} {N}.
Το τεύχος {K} του περιοδικού μας αφορά {N} και {N}.
Εάν το {N} φαίνεται {A}, ρωτήστε τον σύλλογο {P}.
Κάθε καλοκαίρι ο σύλλογος {P} {V} περίπου {K} κομμάτια.
Κανείς δεν γνωρίζει γιατί ο {P} {V} το {N}.
Φέρτε μαζί σας {N}, επειδή εκεί θα βρείτε μόνο {N}.
Στη φωτογραφία διακρίνεται {N} δίπλα σε {A} {N}.
Μόλις το {Y} κάποιος {V} πρώτη φορά αυτό το {N}.
Λένε πως κάθε {N} είναι λιγάκι {A}.
Γράψτε μας, αν έχετε στην κατοχή σας {N} με αριθμό {K}.""",
        "συλλέγει επισκευάζει μελετά ζωγραφίζει περιγράφει εκθέτει δανείζει",
        "σπάνιο παλιό πολύχρωμο φθηνό πολύτιμο παράξενο γερό απλό",
        {"καΐκια": "πανί κατάρτι άγκυρα λιμάνι ναυπηγείο κουπί πλώρη σκαρί καπετάνιος νησί",
         "λαϊκή": "μπουζούκι τραγούδι χορός στίχος δίσκος λαούτο πανηγύρι μουσικός βιολί"}),
    "uk": Language("uk", "ua com.ua org.ua com", "бо вер гай дуб жит зор кам лип мир ниж озе пол рос сад тер ясе", """
Ще {Y} року в селі {P} був {A} {N}.
Випуск {K} нашого вісника присвячено темам {N} та {N}.
Якщо {N} надто {A}, зверніться до товариства {P}.
Щоліта гурток {P} {V} близько {K} зразків.
Ніхто не знає, чому {P} стільки часу {V} саме {N}.
Візьміть із собою {N}, бо там є лише {N}.
На світлині видно {N}, а поруч {A} {N}.
Тільки {Y} року хтось уперше {V} тутешній {N}.
Кажуть, що кожен {N} трохи {A}.
Пишіть нам, якщо маєте {N} під номером {K}.""",
        "збирає лагодить досліджує малює описує будує показує",
        "рідкісний давній барвистий дешевий цінний дивний міцний звичайний",
        {"вишивка": "рушник нитка узор полотно хрестик голка сорочка орнамент стібок майстриня",
         "дзвони": "дзвіниця церква лемеш купол зруб бронза дзвонар зала ікона"}),
    "id": Language("id", "id co.id com", "adi ban ci dar gar ja ka lo mas nu pra ra sar ti wi", """
Sejak {Y} banyak orang mencari {N} yang {A} di {P}.
Setiap hari {P} {V} lebih dari {K} jenis {N}.
Anda cukup memilih {N} lalu menikmati {N} dengan {A}.
Kami {V} {N} terbaik untuk semua anggota {P}.
Jangan lupa bahwa {N} juga bisa {A} bila dipakai bersama {N}.
Untuk pemula tersedia {K} panduan tentang {N}.
Menurut {P} tidak ada {N} yang lebih {A} dari ini.
Hubungi {P} jika mempunyai pertanyaan mengenai {N}.""",
        "menawarkan menyediakan menjual membahas mengulas membagikan",
        "mudah aman murah terpercaya cepat lengkap populer resmi",
        {"kopi": "biji cangkir kebun aroma sangrai gula susu kedai seduh",
         "batik": "kain motif malam pewarna canting pengrajin pasar busana"}),
}
# The Web of old mails: half of it is English.
USUAL = ("en",) * 7 + ("de", "de", "fr", "fr", "es", "es", "da", "fi", "cs", "tr", "el", "uk")
WESTERN = ("en", "en", "en", "de", "fr", "es")

# Words of frames and messages by language. Messages with several wordings are tuples; "|" separates title, text and others.
SAY = {
    "en": dict(nav=("Homepage|What's new|Who we are|Library|Shop|Press room|Legal notice|Cookie settings",
        "Main page|Articles|Contact us|Resources|Services|Blog|Terms of use|Privacy policy"), read="Continue reading",
        lost=("This page has gone missing|The address you entered doesn't match anything we publish. Head back home or try the search box.",
              "We can't find that|Looks like this page was removed, renamed, or never existed in the first place.",
              "404 error|Hmm, there is nothing here. The page you wanted is not on our site any longer."),
        nothing=("Your search for “{}” returned 0 results.", "No pages matched “{}”. Try fewer or different words."),
        thread=("No thread specified. If you followed a valid link, please tell the administrator.",
                "The topic or board you are looking for appears to be either missing or off limits to you."),
        record=("There is no entry with this number in the database.", "Record not found.", "Issue #{k} does not exist."),
        file="File unavailable|The file you tried to download has been deleted by its uploader, or it was not downloaded for 90 days.",
        withdrawn=("This publication has been withdrawn|It is no longer current and has been taken off this site. Older versions may be held by the "
                   "National Archives.", "Content archived|The page you asked for was retired when the department was reorganised."),
        closed=("Journal deleted|The author has deleted this journal, and its entries can no longer be read.",
                "Blog closed|This blog was closed by its owner. Its address cannot be used for a new one."),
        hoster=("Site not found|No web site is configured at this address. Customers: sign in to your control panel to add it.",
                "Web hosting switched off|The hosting contract of this customer has ended and the files were erased."),
        signin="Log In|Username or e-mail|Password|Remember me",
        offer=("{d} can be yours|This premium domain name is up for sale at ${p}, or in 12 monthly payments.|Buy this domain",
               "Own {d} today|The owner of {d} accepts offers for the domain name. Minimum offer: ${p}.|Send an offer",
               "{d} – domain for sale|You are looking at a name out of our portfolio of 640 domains for sale. Price: ${p}.|Contact the broker"),
        expired=("{d} has expired|This domain name expired on {day}. If it is yours, renew it in your account within 30 days.",
                 "Domain expired|The registration period of {d} ended on {day} and was not renewed by its owner."),
        drop="{d} is available for auction|This expired domain is pending delete. Backorder it or place a bid before {day}.|Place a bid",
        related="Related links|Sponsored results. The operator of this page has no relation with the advertisers.|Buy this domain",
        consent="Your privacy choices|We and {n} partners store information on a device, such as cookies. Choose “Agree” or “Manage” to continue to the site.|Agree|Manage",
        wall=("One moment, please|We are checking that your connection is secure. Please enable JavaScript and cookies to continue.",
              "Are you human?|Unusual traffic comes from your network. Solve the puzzle to go on."),
        maintenance="Scheduled maintenance|We are upgrading our servers. All pages will be back on {day} at {hour}:00. Thank you for waiting.",
        paywall="You have read your free article of this month. Take out a subscription to go on.",
        formerly="formerly {}", frozen="This site is closed to new contributions since {y}. All pages are kept here as they were.",
        soldout="Sold out. We do not know when we get it again.", comments="comments", updated="Last changed"),
    "de": dict(nav=("Start|Neuigkeiten|Wir über uns|Bibliothek|Laden|Presse|Rechtliches|Cookies",
        "Hauptseite|Artikel|Kontakt|Downloads|Leistungen|Blog|Impressum|Datenschutz"), read="Weiterlesen",
        lost=("Hier ist leider nichts|Unter dieser Adresse bieten wir keine Inhalte an. Vielleicht hilft die Suche weiter.",
              "Diese Seite gibt es nicht|Der Link ist veraltet oder enthält einen Tippfehler. Zurück zum Start?"),
        nothing=("Zu „{}“ wurden 0 Treffer gefunden.", "Kein Ergebnis für „{}“. Versuchen Sie andere Begriffe."),
        thread=("Es wurde kein gültiges Thema angegeben. Wenn Sie einem Link gefolgt sind, melden Sie das bitte dem Administrator.",),
        record=("Zu dieser Nummer gibt es keinen Eintrag.", "Datensatz nicht vorhanden.", "Ticket #{k} existiert nicht."),
        file="Datei nicht verfügbar|Die gewünschte Datei wurde gelöscht, weil sie 90 Tage lang nicht abgerufen wurde.",
        withdrawn=("Veröffentlichung zurückgezogen|Dieses Dokument ist nicht mehr gültig und wurde aus dem Angebot entfernt.",),
        closed=("Blog gelöscht|Dieses Blog wurde vom Betreiber gelöscht. Die Beiträge sind nicht mehr abrufbar.",),
        hoster=("Website nicht eingerichtet|Unter dieser Adresse ist auf unserem Server keine Website eingerichtet.",
                "Webspace gesperrt|Der Vertrag über diesen Webspace ist beendet, die Daten wurden gelöscht."),
        signin="Anmeldung|Kennung|Kennwort|Angemeldet bleiben",
        offer=("{d} zu verkaufen|Sie können die Domain {d} für {p} EUR erwerben, auf Wunsch in Raten.|Domain kaufen",
               "Domain {d} abzugeben|Diese Domain wird vom Eigentümer zum Verkauf angeboten. Mindestgebot {p} EUR.|Angebot senden"),
        expired=("{d} ist abgelaufen|Die Laufzeit dieser Domain endete am {day}. Als Inhaber verlängern Sie bitte in Ihrem Kundenkonto.",),
        drop="{d} wird versteigert|Diese abgelaufene Domain wird bald gelöscht. Gebote sind bis {day} möglich.|Gebot abgeben",
        related="Ähnliche Suchen|Gesponserte Links. Der Betreiber dieser Seite steht in keiner Beziehung zu den Werbenden.|Domain kaufen",
        consent="Ihre Privatsphäre|Wir und {n} Partner speichern Informationen auf Ihrem Gerät. Mit „Zustimmen“ gelangen Sie zur Website.|Zustimmen|Einstellungen",
        wall=("Einen Augenblick bitte|Ihre Verbindung wird geprüft. Bitte schalten Sie JavaScript und Cookies ein.",),
        maintenance="Wartungsarbeiten|Unsere Server werden erneuert. Alle Seiten sind am {day} ab {hour} Uhr wieder da.",
        paywall="Sie haben Ihren kostenlosen Artikel gelesen. Mit einem Abonnement geht es weiter.",
        formerly="früher {}", frozen="Dieses Angebot wird seit {y} nicht mehr gepflegt. Alle Seiten bleiben unverändert erhalten.",
        soldout="Ausverkauft. Ein Liefertermin ist nicht bekannt.", comments="Kommentare", updated="Zuletzt geändert"),
    "fr": dict(nav=("Bienvenue|Actualité|L'équipe|Bibliothèque|Boutique|Presse|Mentions légales|Cookies",
        "Page d'entrée|Articles|Contact|Ressources|Services|Blog|Conditions|Confidentialité"), read="Lire la suite",
        lost=("Cette page est introuvable|L'adresse saisie ne correspond à aucun de nos contenus. Essayez le moteur de recherche.",
              "Rien à cet endroit|Le lien que vous avez suivi est périmé, ou la page a été supprimée."),
        nothing=("Votre recherche « {} » n'a donné aucun résultat.", "0 résultat pour « {} »."),
        thread=("Aucun sujet valide n'a été indiqué. Si vous avez suivi un lien correct, prévenez l'administrateur.",),
        record=("Aucune notice ne porte ce numéro.", "Enregistrement inexistant.", "La fiche {k} n'existe pas."),
        file="Fichier indisponible|Le fichier demandé a été effacé, faute de téléchargement depuis 90 jours.",
        withdrawn=("Publication retirée|Ce document n'est plus en vigueur et a été retiré du site.",),
        closed=("Blog supprimé|Ce blog a été supprimé par son auteur. Ses articles ne sont plus consultables.",),
        hoster=("Site non configuré|Aucun site n'est configuré à cette adresse sur notre serveur.",
                "Hébergement résilié|Le contrat d'hébergement de ce client a pris fin et les fichiers ont été effacés."),
        signin="Se connecter|Identifiant ou adresse|Mot de passe|Se souvenir de moi",
        offer=("{d} est à vendre|Vous pouvez acquérir le nom de domaine {d} pour {p} EUR, en une ou douze fois.|Acheter",
               "Le nom {d} cherche preneur|Ce domaine est mis en vente par son titulaire. Offre minimale : {p} EUR.|Proposer un prix"),
        expired=("{d} a expiré|La période d'enregistrement de ce domaine a pris fin le {day}. Titulaire ? Renouvelez-le dans votre espace client.",),
        drop="{d} aux enchères|Ce domaine expiré sera bientôt supprimé. Enchérissez avant le {day}.|Enchérir",
        related="Liens apparentés|Liens sponsorisés, sans rapport avec l'exploitant de cette page.|Acheter ce domaine",
        consent="Vos choix|Nos {n} partenaires et nous stockons des informations sur votre appareil. Cliquez « Accepter » pour accéder au site.|Accepter|Paramétrer",
        wall=("Un instant|Nous vérifions votre connexion. Veuillez activer JavaScript et les cookies.",),
        maintenance="Maintenance en cours|Nos serveurs sont mis à jour. Toutes les pages seront de retour le {day} à {hour} h.",
        paywall="Vous avez lu votre article gratuit. Abonnez-vous pour poursuivre.",
        formerly="anciennement {}", frozen="Ce site n'est plus alimenté depuis {y}. Toutes ses pages restent en ligne.",
        soldout="Épuisé. Nous ignorons la date du prochain arrivage.", comments="commentaires", updated="Dernière modification"),
    "es": dict(nav=("Portada|Novedades|Nosotros|Biblioteca|Tienda|Prensa|Aviso legal|Cookies",
        "Principal|Artículos|Contacto|Recursos|Servicios|Blog|Condiciones|Privacidad"), read="Seguir leyendo",
        lost=("No encontramos esa página|La dirección que ha escrito no corresponde a ningún contenido. Pruebe a buscar.",
              "Aquí no hay nada|El enlace está anticuado o la página fue eliminada."),
        nothing=("La búsqueda de «{}» dio 0 resultados.", "Nada coincide con «{}»."),
        thread=("No se ha indicado un tema válido. Si siguió un enlace correcto, avise al administrador.",),
        record=("No existe ninguna ficha con ese número.", "Registro inexistente.", "La incidencia {k} no existe."),
        file="Archivo no disponible|El archivo solicitado se borró porque nadie lo descargó en 90 días.",
        withdrawn=("Publicación retirada|Este documento ya no está vigente y se ha retirado del portal.",),
        closed=("Blog eliminado|Su autor eliminó este blog. Las entradas ya no se pueden leer.",),
        hoster=("Sitio sin configurar|En esta dirección no hay ningún sitio configurado en nuestro servidor.",
                "Alojamiento cancelado|El contrato de este cliente terminó y se borraron los archivos."),
        signin="Iniciar sesión|Usuario o correo|Contraseña|Recordarme",
        offer=("{d} a la venta|Puede adquirir el dominio {d} por {p} EUR, también a plazos.|Comprar",
               "Se vende {d}|El titular pone en venta este dominio. Oferta mínima: {p} EUR.|Enviar oferta"),
        expired=("{d} ha caducado|El período de registro de este dominio acabó el {day}. Si es suyo, renuévelo en su cuenta.",),
        drop="{d} en subasta|Este dominio caducado se borrará pronto. Puje antes del {day}.|Pujar",
        related="Enlaces relacionados|Enlaces patrocinados, ajenos al gestor de esta página.|Comprar este dominio",
        consent="Su privacidad|Nosotros y {n} socios guardamos información en su dispositivo. Pulse «Aceptar» para entrar al sitio.|Aceptar|Configurar",
        wall=("Un momento|Estamos comprobando su conexión. Active JavaScript y las cookies.",),
        maintenance="Mantenimiento programado|Estamos renovando los servidores. Todas las páginas volverán el {day} a las {hour}:00.",
        paywall="Ya ha leído su artículo gratuito. Suscríbase para continuar.",
        formerly="antes {}", frozen="Este sitio no se actualiza desde {y}. Todas sus páginas se conservan.",
        soldout="Agotado. No sabemos cuándo volverá.", comments="comentarios", updated="Última modificación"),
    "da": dict(nav=("Velkommen|Nyt|Foreningen|Bibliotek|Butik|Presse|Vilkår|Cookies",
        "Forside|Artikler|Kontakt|Filer|Ydelser|Blog|Betingelser|Privatliv"), read="Læs mere",
        lost=("Siden findes ikke|Vi har ingen side på den adresse. Måske er den slettet eller flyttet.",),
        nothing=("Din søgning på “{}” gav 0 resultater.",), thread=("Emnet findes ikke eller er blevet slettet.",),
        record=("Der er ingen post med dette nummer.",), file="Filen er væk|Filen er slettet, fordi ingen har hentet den i 90 dage.",
        withdrawn=("Publikationen er trukket tilbage|Dokumentet gælder ikke længere og er fjernet fra portalen.",),
        closed=("Bloggen er slettet|Ejeren har slettet denne blog.",),
        hoster=("Ingen hjemmeside|Der er ikke oprettet en hjemmeside på denne adresse.",), signin="Log ind|Brugernavn|Adgangskode|Husk mig",
        offer=("{d} er til salg|Domænet {d} kan købes for {p} kr.|Køb domænet",),
        expired=("{d} er udløbet|Registreringen af domænet udløb den {day}. Ejeren kan stadig forny det.",),
        drop="{d} på auktion|Det udløbne domæne bliver snart slettet. Byd inden {day}.|Afgiv bud",
        related="Relaterede links|Sponsorerede links.|Køb domænet", formerly="tidligere {}", frozen="Siderne er ikke opdateret siden {y}, men bliver stående.",
        soldout="Udsolgt.", comments="kommentarer", updated="Sidst ændret", paywall="Køb abonnement for at læse videre."),
    "fi": dict(nav=("Alku|Uutta|Yhdistys|Kirjasto|Kauppa|Lehdistö|Ehdot|Evästeet",
        "Etusivu|Artikkelit|Yhteystiedot|Tiedostot|Palvelut|Blogi|Käyttöehdot|Tietosuoja"), read="Lue lisää",
        lost=("Sivua ei löydy|Tässä osoitteessa ei ole sisältöä. Sivu on ehkä poistettu tai siirretty.",),
        nothing=("Haku “{}” tuotti 0 tulosta.",), thread=("Aihetta ei ole olemassa tai se on poistettu.",),
        record=("Tietuetta ei ole tällä numerolla.",), file="Tiedosto poistettu|Tiedosto on poistettu, koska sitä ei ole ladattu 90 päivään.",
        withdrawn=("Julkaisu on poistettu|Asiakirja ei ole enää voimassa, ja se on poistettu palvelusta.",),
        closed=("Blogi poistettu|Omistaja on poistanut tämän blogin.",), hoster=("Ei sivustoa|Tähän osoitteeseen ei ole määritetty sivustoa.",),
        signin="Kirjaudu|Tunnus|Salasana|Muista minut", offer=("{d} on myynnissä|Voit ostaa verkkotunnuksen {d} hintaan {p} euroa.|Osta verkkotunnus",),
        expired=("{d} on vanhentunut|Verkkotunnuksen voimassaolo päättyi {day}. Haltija voi vielä uusia sen.",),
        drop="{d} huutokaupassa|Vanhentunut verkkotunnus poistetaan pian. Tee tarjous ennen {day}.|Tee tarjous",
        related="Aiheeseen liittyvää|Sponsoroituja linkkejä.|Osta verkkotunnus", formerly="aiemmin {}",
        frozen="Sivustoa ei ole päivitetty vuoden {y} jälkeen, mutta sivut säilyvät.", soldout="Loppuunmyyty.", comments="kommenttia",
        updated="Muokattu viimeksi", paywall="Tilaa lehti, jos haluat lukea lisää."),
    "cs": dict(nav=("Úvod|Novinky|O spolku|Knihovna|Obchod|Tisk|Podmínky|Cookies",
        "Hlavní stránka|Články|Kontakt|Soubory|Služby|Blog|Pravidla|Soukromí"), read="Číst dál",
        lost=("Stránka neexistuje|Na této adrese nic nemáme. Stránka byla patrně smazána nebo přesunuta.",),
        nothing=("Na dotaz „{}“ bylo nalezeno 0 výsledků.",), thread=("Téma neexistuje nebo bylo smazáno.",),
        record=("Záznam s tímto číslem neexistuje.",), file="Soubor byl smazán|Soubor byl smazán, protože jej 90 dní nikdo nestáhl.",
        withdrawn=("Dokument byl stažen|Dokument již není platný a byl z portálu odstraněn.",), closed=("Blog byl smazán|Autor tento blog smazal.",),
        hoster=("Web není nastaven|Na této adrese není na našem serveru nastaven žádný web.",), signin="Přihlášení|Jméno|Heslo|Zapamatovat",
        offer=("Doména {d} je na prodej|Doménu {d} můžete koupit za {p} Kč.|Koupit doménu",),
        expired=("Doména {d} vypršela|Platnost registrace skončila {day}. Držitel ji může ještě prodloužit.",),
        drop="Aukce domény {d}|Vypršelá doména bude brzy zrušena. Přihazujte do {day}.|Přihodit",
        related="Související odkazy|Sponzorované odkazy.|Koupit doménu", formerly="dříve {}", frozen="Web se od roku {y} neaktualizuje, stránky však zůstávají.",
        soldout="Vyprodáno.", comments="komentářů", updated="Naposledy změněno", paywall="Pokračování je jen pro předplatitele."),
    "tr": dict(nav=("Giriş|Haberler|Derneğimiz|Kitaplık|Mağaza|Basın|Koşullar|Çerezler",
        "Ana sayfa|Yazılar|İletişim|Dosyalar|Hizmetler|Blog|Kullanım|Gizlilik"), read="Devamını oku",
        lost=("Sayfa bulunamadı|Bu adreste bir içerik yok. Sayfa silinmiş veya taşınmış olabilir.",),
        nothing=("“{}” araması 0 sonuç verdi.",), thread=("Konu mevcut değil ya da silinmiş.",), record=("Bu numarayla bir kayıt yok.",),
        file="Dosya silinmiş|Dosya 90 gün boyunca indirilmediği için silindi.",
        withdrawn=("Yayın kaldırıldı|Bu belge artık yürürlükte değildir ve siteden kaldırılmıştır.",), closed=("Blog silindi|Bu blog sahibi tarafından silindi.",),
        hoster=("Site tanımlı değil|Bu adres için sunucumuzda tanımlı bir site yok.",), signin="Giriş yap|Kullanıcı|Parola|Beni hatırla",
        offer=("{d} satılık|{d} alan adını {p} TL karşılığında satın alabilirsiniz.|Satın al",),
        expired=("{d} süresi doldu|Alan adının kayıt süresi {day} tarihinde doldu. Sahibi hâlâ yenileyebilir.",),
        drop="{d} açık artırmada|Süresi dolan alan adı yakında silinecek. {day} tarihine kadar teklif verin.|Teklif ver",
        related="İlgili aramalar|Sponsorlu bağlantılar.|Alan adını satın al", formerly="eski adıyla {}", frozen="Site {y} yılından beri güncellenmiyor; sayfalar korunuyor.",
        soldout="Tükendi.", comments="yorum", updated="Son değişiklik", paywall="Devamı aboneler içindir."),
    "el": dict(nav=("Αρχική|Νέα|Ο σύλλογος|Βιβλιοθήκη|Κατάστημα|Τύπος|Όροι|Cookies",
        "Κεντρική|Άρθρα|Επικοινωνία|Αρχεία|Υπηρεσίες|Ιστολόγιο|Χρήση|Απόρρητο"), read="Περισσότερα",
        lost=("Η σελίδα δεν βρέθηκε|Σε αυτή τη διεύθυνση δεν υπάρχει περιεχόμενο. Ίσως διαγράφηκε ή μετακινήθηκε.",),
        nothing=("Η αναζήτηση «{}» έδωσε 0 αποτελέσματα.",), thread=("Το θέμα δεν υπάρχει ή έχει διαγραφεί.",),
        record=("Δεν υπάρχει εγγραφή με αυτόν τον αριθμό.",), file="Το αρχείο διαγράφηκε|Το αρχείο διαγράφηκε, επειδή δεν ζητήθηκε επί 90 ημέρες.",
        withdrawn=("Το έγγραφο αποσύρθηκε|Το έγγραφο δεν ισχύει πλέον και αφαιρέθηκε από την πύλη.",), closed=("Το ιστολόγιο διαγράφηκε|Ο κάτοχος διέγραψε αυτό το ιστολόγιο.",),
        hoster=("Δεν υπάρχει ιστότοπος|Σε αυτή τη διεύθυνση δεν έχει οριστεί ιστότοπος.",), signin="Σύνδεση|Χρήστης|Κωδικός|Να με θυμάσαι",
        offer=("Το {d} πωλείται|Μπορείτε να αγοράσετε το όνομα χώρου {d} για {p} ευρώ.|Αγορά",),
        expired=("Το {d} έληξε|Η καταχώριση του ονόματος έληξε στις {day}. Ο κάτοχος μπορεί ακόμη να το ανανεώσει.",),
        drop="Δημοπρασία του {d}|Το όνομα που έληξε θα διαγραφεί σύντομα. Προσφορές έως {day}.|Προσφορά",
        related="Σχετικές αναζητήσεις|Χορηγούμενοι σύνδεσμοι.|Αγορά ονόματος", formerly="πρώην {}", frozen="Ο ιστότοπος δεν ενημερώνεται από το {y}, αλλά οι σελίδες παραμένουν.",
        soldout="Εξαντλήθηκε.", comments="σχόλια", updated="Τελευταία αλλαγή", paywall="Η συνέχεια είναι για συνδρομητές."),
    "uk": dict(nav=("Початок|Новини|Товариство|Бібліотека|Крамниця|Преса|Умови|Файли cookie",
        "Головна|Статті|Контакти|Файли|Послуги|Блог|Правила|Приватність"), read="Читати далі",
        lost=("Сторінку не знайдено|За цією адресою нічого немає. Можливо, сторінку видалено або перенесено.",),
        nothing=("За запитом «{}» знайдено 0 результатів.",), thread=("Тема не існує або її видалено.",), record=("Запису з таким номером немає.",),
        file="Файл видалено|Файл видалено, бо його не завантажували 90 днів.",
        withdrawn=("Документ відкликано|Документ втратив чинність і вилучений з порталу.",), closed=("Блог видалено|Автор видалив цей блог.",),
        hoster=("Сайт не налаштовано|За цією адресою на нашому сервері немає сайту.",), signin="Вхід|Користувач|Пароль|Запам'ятати мене",
        offer=("Домен {d} продається|Ви можете придбати домен {d} за {p} грн.|Придбати домен",),
        expired=("Термін дії {d} закінчився|Реєстрація домену закінчилася {day}. Власник ще може її подовжити.",),
        drop="Аукціон домену {d}|Домен буде незабаром видалено. Ставки приймаються до {day}.|Зробити ставку",
        related="Схожі запити|Спонсорські посилання.|Придбати домен", formerly="раніше {}", frozen="Сайт не оновлюється з {y} року, але сторінки зберігаються.",
        soldout="Немає в наявності.", comments="коментарів", updated="Востаннє змінено", paywall="Далі лише для передплатників."),
}

PREFIXES = ("www.", "www2.", "forum.", "home.", "my.")


def host_name(rng, language, number):
    coins = LANGUAGES["da" if language.code in ("el", "uk") else language.code]
    parts = ["".join(letter for letter in coins.coin(rng).lower() if letter.isascii()) for _ in range(rng.choice([1, 1, 2]))]
    letters = "".join("kmnprstvxz"[int(digit)] for digit in str(number))
    return f"{rng.choice(['www.', 'www.', 'www.', '', '', 'www2.', 'home.'])}{'-'.join(parts)}{letters}.{rng.choice(language.tags)}"


def page(text, status=200, charset="utf-8", **fields):
    return status, {"Content-Type": f"text/html; charset={charset}", "Cache-Control": "max-age=0", **fields}, text.encode()


def moved(place, status=302):
    return status, {"Location": place, "Content-Type": "text/html; charset=iso-8859-1"}, (
        f'<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">\n<html><head>\n<title>{status} Found</title>\n</head><body>\n<h1>Found</h1>\n'
        f'<p>The document has moved <a href="{html.escape(place)}">here</a>.</p>\n</body></html>\n').encode()


def say(site, key):
    """A message in the language of the site, always in the same words."""
    text = SAY[site.language.code][key]
    return site.rng("say", key).choice(text) if isinstance(text, tuple) else text


def nav(site):
    """The fixed entries of the menu of a site. Two owners do not choose the same ones."""
    return SAY[site.language.code]["nav"][(int(Site.rng(site, "nav").random() < 0.5) + site.is_newcomer) % 2].split("|")


def day(rng, year=2026):
    return f"{rng.randint(1, 28):02}.{rng.randint(1, 12):02}.{year}"


def menu(site, count=5, key="menu"):
    """Fixed entries of the site, and sections named by words of its subject."""
    rng, nouns = site.rng(key), site.language.subjects[site.subject]
    fixed = [(word, f"/p{number}/") for number, word in enumerate(nav(site))]
    return fixed[:5] + [(noun.capitalize(), f"/{site.slug(rng)}/") for noun in rng.sample(nouns, min(count, len(nouns)))] + fixed[5:]


def anchors(pairs, item="<li>{}</li>"):
    return "\n".join(item.format(f'<a href="{place}">{html.escape(text)}</a>') for text, place in pairs)


def headlines(site, rng, count):
    return [(site.language.title(rng, site.subject, site.names), f"/{site.slug(rng)}/{rng.randint(100, 99999)}") for _ in range(count)]


def sentences(site, rng, count):
    return [site.language.sentence(rng, site.subject, site.names) for _ in range(count)]


def layout_nineties(site, title, body, request):
    home, new, *_ = nav(site)
    hits = site.rng("hits").randint(2000, 70000) + request.randint(1, 500)
    return f"""<HTML><HEAD><TITLE>{title}</TITLE>
<META NAME="GENERATOR" CONTENT="Mozilla/4.06 [en] (Win98; I) [Netscape]"></HEAD>
<BODY TEXT="#000033" BGCOLOR="#CCFFCC" BACKGROUND="back.gif"><CENTER><FONT SIZE="+3" COLOR="#990000"><B>{title}</B></FONT></CENTER>
<HR WIDTH="80%">{body}<HR WIDTH="80%">
<CENTER><A HREF="/">{home}</A> - <A HREF="/new.html">{new}</A><BR><FONT SIZE="-1">{site.name}<BR>{hits}</FONT></CENTER></BODY></HTML>"""


def layout_typo3(site, title, body, request):
    crumbs = " &gt; ".join(word for word, _ in menu(site)[:2])
    return f"""<!DOCTYPE html>
<html lang="{site.language.code}"><head><meta charset="utf-8">
<!-- This website is powered by TYPO3 -->
<title>{title}: {site.name}</title><meta name="generator" content="TYPO3 CMS">
<link rel="stylesheet" href="/typo3temp/assets/css/{site.rng('css').getrandbits(64):016x}.css?{request.randint(10**9, 2 * 10**9)}" media="all"></head>
<body id="p{site.rng('pid').randint(1, 900)}"><div id="page"><div id="metanav">{anchors(menu(site)[-3:], "{} ")}</div>
<div id="logo"><a href="/">{site.name}</a></div><div id="mainnav"><ul>{anchors(menu(site, 7))}</ul></div><div class="breadcrumb">{crumbs}</div>
<!--TYPO3SEARCH_begin--><div class="csc-default"><h1>{title}</h1>{body}</div><!--TYPO3SEARCH_end-->
<div id="footer">{site.name} &middot; {anchors(menu(site)[-2:], "{} ")}</div></div></body></html>"""


def layout_joomla(site, title, body, request):
    rng = site.rng("modules")
    modules = "".join(f"<div class='moduletable'><h3>{name}</h3><p>{sentences(site, rng, 1)[0]}</p></div>" for name, _ in menu(site, 6)[5:9])
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="{site.language.code}-{site.language.code}" lang="{site.language.code}"><head>
<title>{title}</title><meta name="generator" content="Joomla! - Open Source Content Management" />
<script src="/media/system/js/mootools-core.js?{request.getrandbits(128):032x}" type="text/javascript"></script></head><body>
<div id="all"><div id="header"><h1 id="logo">{site.name}</h1><ul class="menu-nav">{anchors(menu(site, 4))}</ul></div>
<div id="nav" class="left">{modules}</div><div id="main"><div class="item-page"><h2>{title}</h2>{body}</div></div>
<div id="footer-sub"><form action="/index.php" method="post"><input type="hidden" name="{request.getrandbits(128):032x}" value="1" />
</form>{site.name} {site.rng("year").randint(2008, 2026)}</div></div></body></html>"""


def layout_static(site, title, body, request):
    return f"""<!DOCTYPE html>
<html lang="{site.language.code}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<meta name="generator" content="Jekyll v4.3.2"><link rel="stylesheet" href="/assets/css/style.css?v={site.rng('v').getrandbits(160):040x}"></head>
<body><header><a class="site-title" href="/">{site.name}</a></header>
<main><h1>{title}</h1>
{body}</main><footer><a href="/feed.xml">RSS</a> {site.name}</footer></body></html>"""


def layout_campus(site, title, body, request):
    rng = site.rng("campus")
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN"><html lang="{site.language.code}"><head>
<meta http-equiv="content-type" content="text/html; charset=utf-8"><title>{site.name} | {title}</title></head><body><a name="top"></a>
<div class="quick">{anchors(menu(site, 3)[:4], "[{}] ")}</div><div class="banner">{site.names[0]} – {site.name}</div>
<table><tr><td class="sidebar"><ul>{anchors(menu(site, 9))}</ul><p>{say(site, "updated")}: {request.randint(1, 28)}.10.2026</p></td>
<td class="content"><h1>{title}</h1>{body}<p><a href="#top">&uarr;</a></p></td></tr></table>
<div class="foot">{site.name}, {site.names[1]} {rng.randint(1, 200)}, {rng.randint(10000, 99999)} {site.names[2]}</div></body></html>"""


def layout_paper(site, title, body, request):
    top, side = headlines(site, site.rng("top"), 6), headlines(site, request, 6)
    sections = menu(site, 10)
    return f"""<!doctype html><html lang="{site.language.code}" class="no-js"><head><meta charset="utf-8"><title>{title} - {site.name}</title>
<meta property="og:site_name" content="{site.name}"><meta property="og:title" content="{title}"><link rel="amphtml" href="/amp/{request.randint(1, 9)}">
<script>window.utag_data={{"page_id":"{request.getrandbits(64):016x}"}}</script></head><body>
<div class="skip"><a href="#c">{say(site, "read")}</a></div><header><a href="/">{site.name}</a><nav><ul>{anchors(sections)}</ul></nav>
<div class="ticker">{request.randint(0, 23):02}.{request.randint(0, 59):02} {side[0][0]}</div></header>
<main id="c"><article><h1>{title}</h1>{body}</article><aside><ol class="most">{anchors(side)}</ol></aside></main>
<section class="more">{anchors(top, "<h3>{}</h3>")}</section><footer><ul>{anchors(sections[-3:])}</ul>{site.name} 1998-2026</footer></body></html>"""


def layout_builder(site, title, body, request):
    return f"""<!doctype html><html lang="{site.language.code}"><head><meta charset="utf-8"><title>{title} — {site.name}</title>
<link rel="preconnect" href="https://images.squarespace-cdn.com"><script>Static.SQUARESPACE_CONTEXT={{"rid":"{request.getrandbits(64):x}"}}</script></head>
<body class="tweak-fixed-header"><header class="header-announcement"><div class="header-title"><a href="/">{site.name}</a></div>
<nav class="header-nav-list">{anchors(menu(site, 2)[:5], '<div class="header-nav-item">{}</div>')}</nav></header>
<main><section class="page-section"><h1>{title}</h1>{body}</section></main><footer class="sections"><p>{site.name}</p>
<p>{site.names[3]}, {site.names[4]}</p></footer></body></html>"""


def layout_board(site, title, body, request):
    """The frame of a forum."""
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" dir="ltr" lang="{site.language.code}"><head><title>{title} - {site.name} Forum</title>
<meta name="generator" content="vBulletin 3.8.7" /><script type="text/javascript">var SESSIONURL = "s={request.getrandbits(128):032x}&";</script>
</head><body><table class="tborder"><tr><td class="alt1"><span class="navbar"><a href="index.php?s={request.getrandbits(128):032x}">{site.name} Forum</a></span>
</td><td class="alt2"><form action="signup.php"><input name="vb_username" size="10" /><input type="password" size="10" /></form></td></tr>
<tr><td class="vbmenu_control">FAQ</td><td class="vbmenu_control">{site.rng("members").randint(200, 9000) + request.randint(0, 9)}</td></tr></table>
{body}
<div class="smallfont" align="center">GMT +1. {request.randint(0, 23):02}:{request.randint(0, 59):02}</div></body></html>"""


THEMES = [layout_nineties, layout_typo3, layout_joomla, layout_static, layout_campus, layout_paper, layout_builder]


def framed(site, title, body, request, theme=None):
    return page((theme or site.theme)(site, title, body, request))


def hard_404(site, path, request):
    """Status 404, in the words of one server or of the site."""
    kind = site.rng("hard").choice(["iis", "lighttpd", "apache", "empty", "own", "own", "own"])
    if kind == "own":
        title, text = say(site, "lost").split("|")
        return page(site.theme(site, title, f"<p>{text}</p>", request), 404)
    texts = {"iis": "<!DOCTYPE html><html><head><title>404 - File or directory not found.</title></head><body><div id=header><h1>Server Error</h1></div>"
                    "<h2>404 - File or directory not found.</h2></body></html>",
             "lighttpd": '<?xml version="1.0" encoding="iso-8859-1"?><html><head><title>404 - Not Found</title></head><body><h1>404 - Not Found</h1>'
                         '</body></html>',
             "apache": "<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1><p>The requested URL was not found.</p></body></html>",
             "empty": ""}
    return page(texts[kind], 404)


def front(site, request):
    rng = site.rng("front")
    body = f"<p>{' '.join(sentences(site, rng, 4))}</p>" + "".join(
        f"<div><h3><a href='{place}'>{text}</a></h3><p>{' '.join(sentences(site, rng, 2))}</p></div>" for text, place in headlines(site, rng, 5))
    return framed(site, site.name, body, request)


class Fifth(Site):
    """A site of this set."""

    languages, is_newcomer = USUAL, False
    paths = ("/{w}/{w}.html", "/{w}{k}.php", "/pages/{w}/", "/{w}.cfm?doc={k}", "/{y}/{w}-{k}", "/staff/{w}/{w}.html", "/{w}.html")
    redesigned_share = 0.5


# Soft 404.


class Hub(Fifth):
    """A paper that leads retired stories to the list of their section."""

    truth, links, alive_share = "soft_404", 4, 0.2
    paths = ("/news/{y}/{w}.html", "/sport/{w}{k}.html", "/news/article.jsp?id={k}")

    def missing(self, path, request):
        folder = f"/{path.split('/')[1]}/"
        if folder not in ("/news/", "/sport/"):
            return hard_404(self, path, request)
        if path != folder:
            return moved(folder, self.rng("status").choice([301, 302]))
        rows = headlines(self, self.rng("section", folder), 8) + headlines(self, request, 3)
        return framed(self, f"{self.name} {folder.strip('/').capitalize()}", anchors(rows, "<h2>{}</h2>"), request, layout_paper)

    now = missing


class SearchInstead(Fifth):
    """A search for the words of the address, in its place or after a redirect, that finds nothing or what the words are like."""

    truth, links, alive_share = "soft_404", 3, 0.2

    def missing(self, path, request):
        is_moved = self.rng("moved").random() < 0.5
        if is_moved and not path.startswith("/find?"):
            return moved("/find?" + urllib.parse.urlencode({"words": self.terms(path)}))
        terms = urllib.parse.parse_qs(path.partition("?")[2]).get("words", [""])[0] if is_moved else self.terms(path)
        body = f'<form action="/find"><input name="words" value="{html.escape(terms)}"><button>&#128269;</button></form>'
        if self.rng("finds").random() < 0.6:
            body += f"<p>{say(self, 'nothing').format(html.escape(terms))}</p>"
        else:
            found = headlines(self, self.rng("found", terms), self.rng("found", terms).randint(4, 8))
            body += anchors(found, "<div class=hit>{}</div>")
        return framed(self, f"{html.escape(terms)} – {self.name}", body, request)

    now = missing

    def terms(self, path):
        return " ".join(part for part in path.replace(".", "/").replace("-", "/").replace("?", "/").split("/") if part and part not in ("html", "php"))


class FrontInPlace(Fifth):
    """The front page under each address that is not there, without a redirect."""

    truth, links, alive_share = "soft_404", 3, 0.25

    def missing(self, path, request):
        return self.front(request)

    now = missing


class ToStart(Fifth):
    """A plugin that leads all that is missing to the front page, under one of its addresses."""

    truth, links, alive_share = "soft_404", 4, 0.25

    def missing(self, path, request):
        place = self.rng("place").choice(["/", "/", "/home.html", "/startpage/", "/?err=nf", "/index.jsp"])
        return self.front(request) if path == place else moved(place, self.rng("status").choice([301, 302, 307]))

    now = missing


class ErrorPlace(Fifth):
    """A redirect to the address of an error page, which answers 200."""

    truth, links, alive_share = "soft_404", 4, 0.25

    def missing(self, path, request):
        place = self.rng("place").choice(["/_layouts/PageNotFoundError.aspx?requestUrl=", "/sorry.shtml", "/system/404?from=", "/info/nicht-da/",
                                          "/web/guest/error?p_url="])
        if path.split("?")[0] == place.split("?")[0]:
            title, text = say(self, "lost").split("|")
            return framed(self, title, f"<p>{text}</p>", request)
        return moved(place + (urllib.parse.quote(f"http://{self.host}{path}", safe="") if place.endswith("=") else ""))

    now = missing


class Line(Fifth):
    """A line without a frame, by a program that finds nothing to show, whatever the path."""

    truth, links, alive_share = "soft_404", 3, 0.25

    def missing(self, path, request):
        text = self.rng("line").choice(["No input file specified.", say(self, "lost").split("|")[0] + ".", "Error 404 - " + say(self, "lost").split("|")[0],
                                        f"Template error: no document for '{html.escape(path)}'."])
        return page(text if self.rng("bare").random() < 0.5 else f"<html><body bgcolor=white><h3>{text}</h3></body></html>")

    now = missing


class Apology(Fifth):
    """An error page with a sense of humour or of style, which a builder of sites or a shop sends with status 200."""

    truth, links, alive_share = "soft_404", 6, 0.25

    def missing(self, path, request):
        rng = self.rng("apology")
        title, text = say(self, "lost").split("|")
        extra = {"search": '<form role="search" action="/search"><input type="search" name="q"></form>', "like": f"<ul>{anchors(headlines(self, request, 4))}</ul>",
                 "picture": f'<img src="/img/404.svg" alt="{title}">', "home": f'<a class="button" href="/">{nav(self)[0]}</a>'}
        body = "".join(extra[key] for key in rng.sample(list(extra), 2))
        return framed(self, rng.choice([title, title, "404", self.name]), f"<h2>{title}</h2><p>{text}</p>{body}", request)

    now = missing


class Thread(Fifth):
    """A thread of a forum that is kept; some are on what somebody could not find, or had deleted."""

    links = 3
    paths = ("/showthread.php?t={k}", "/forum/index.php?topic={k}.0", "/board/thread.php?threadid={k}", "/vb/showthread.php?{k}")

    def text(self, path):
        rng = self.rng("text", path)
        titles = {"en": ["Page cannot be found error on new site?", "Where did the old thread go", "File not found when I start it"],
                  "de": ["Fehler: Seite nicht gefunden, wer weiß Rat?", "Datei gelöscht, was nun?"], "fr": ["Erreur 404 sur mon site, au secours"],
                  "es": ["Me sale página no encontrada"]}.get(self.language.code, [])
        title = rng.choice(titles) if titles and rng.random() < 0.4 else self.language.title(rng, self.subject, self.names)
        posts = "".join(f"""<table class="tborder" id="post{rng.randint(10**4, 10**6)}"><tr><td>{rng.randint(1, 28):02}-{rng.randint(1, 12):02}-200{rng.randint(0, 4)}, 1{rng.randint(0, 9)}:{rng.randint(10, 59)}</td>
</tr><tr><td class="alt2"><a>{rng.choice(self.names)}</a></td><td class="alt1">{self.language.paragraph(rng, self.subject, self.names, 1, 5)}</td></tr></table>"""
                        for _ in range(rng.randint(2, 9)))
        return title, posts

    def article(self, path, request, theme=None):
        title, body = self.text(path)
        return page(layout_board(self, title, body, request))


class ThreadGone(Thread):
    """A thread that a forum no longer has, with status 200. The server says 404 to what is no thread."""

    truth, links, alive_share = "soft_404", 3, 0.25

    def now(self, path, request):
        head = {"en": "Forum Message", "de": "Hinweis", "fr": "Message", "es": "Mensaje"}.get(self.language.code, "Message")
        body = f'<table class="tborder"><tr><td class="tcat">{head}</td></tr><tr><td class="panelsurround"><div class="panel">{say(self, "thread")}</div></td></tr></table>'
        return page(layout_board(self, head, body, request))


class OldWiki(Fifth):
    """A wiki of the first years, which offers to write what is not there, with status 200. Pages went when spam was removed."""

    truth, links, alive_share = "soft_404", 3, 0.3
    languages, paths = WESTERN, ("/twiki/bin/view/Main/{w}{w}", "/wiki/{w}{w}", "/wiki/{w}{k}")
    texts = {"en": ("Describe {} here.", "Edit text of this page", "There is no such topic yet. You may create {}."), "de": ("Beschreibe hier {}.",
             "Text dieser Seite ändern", "Das Thema {} gibt es noch nicht. Sie können es anlegen."), "fr": ("Décrivez {} ici.", "Modifier le texte",
             "La page {} n'existe pas encore. Vous pouvez la créer."), "es": ("Describa aquí {}.", "Editar esta página", "La página {} aún no existe. Puede crearla.")}

    def wiki(self, name, body):
        return page(f"""<HTML><HEAD><TITLE>{self.name}: {name}</TITLE></HEAD><BODY BGCOLOR="white"><h1><a href="/wiki/search?back={name}">{name}</a></h1>
<a href="/wiki/HomePage">HomePage</a> | <a href="/wiki/RecentChanges">RecentChanges</a> | <a href="/wiki/Preferences">Preferences</a><hr>
{body}<hr><a href="/wiki/edit?{name}">{self.texts[self.language.code][1]}</a></BODY></HTML>""")

    def article(self, path, request, theme=None):
        return self.wiki(path.rsplit("/", 1)[1].title(), self.text(path)[1])

    def missing(self, path, request):
        if not path.startswith(("/twiki/", "/wiki/")):
            return hard_404(self, path, request)
        name, texts = path.rsplit("/", 1)[1].title(), self.texts[self.language.code]
        return self.wiki(name, f"<p>{texts[self.rng('text').choice([0, 2])].format(html.escape(name))}</p>")

    now = missing


class BlogDeleted(Fifth):
    """A blog at a service, deleted by its author: a notice under each address."""

    truth, links, most_links = "soft_404", 3, 2

    def missing(self, path, request):
        title, text = say(self, "closed").split("|")
        return page(f"""<!DOCTYPE html><html lang="{self.language.code}"><head><meta charset="utf-8"><title>{title}</title>
<link rel="stylesheet" href="https://static.weblog-service.net/v7/error.css"></head><body class="error-page"><div id="wrap"><h1>{title}</h1><p>{text}</p>
<p><a href="https://www.weblog-service.net/?trk={request.getrandbits(32):08x}">weblog-service.net</a></p></div></body></html>""")

    now = missing

    def front(self, request):
        return self.missing("/", request)


class EmptyServer(Fifth):
    """The page of a fresh server at the front page, which the link names. The rest is status 404."""

    truth, links, paths, most_links, languages = "soft_404", 2, ("/",), 1, ("en",)
    texts = [("IIS Windows Server", '<div id="container"><a href="http://go.microsoft.com/fwlink/?linkid=66138&amp;clcid=0x409">'
              '<img src="iisstart.png" alt="IIS" width="960" height="600" /></a></div>'),
             ("HTTP Server Test Page", "<h1>Test Page</h1><p>This page is used to test the proper operation of the HTTP server after it has been installed. "
              "If you can read this page, it means that the HTTP server at this site is working properly.</p><p>Powered by CentOS</p>"),
             ("Apache Tomcat/9.0.58", "<h1>Apache Tomcat/9.0.58</h1><h2>If you are seeing this, you have successfully installed Tomcat. Congratulations!</h2>"
              "<p>Recommended reading: Security, Manager Application, Clustering</p>"),
             ("Welcome page", "<h1>Placeholder page</h1><p>The owner of this web site has not put up any web pages yet. Please come back later.</p>"
              "<p>You should replace this page with your own web pages as soon as possible. Powered by lighttpd</p>")]

    def now(self, path, request):
        title, text = self.rng("server").choice(self.texts)
        return page(f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{text}</body></html>")

    def missing(self, path, request):
        return page("<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>", 404)

    def front(self, request):
        return self.now("/", request)


class HosterNotice(Fifth):
    """Space at a provider that has no site any more: the notice of the provider under each address."""

    truth, links, most_links = "soft_404", 3, 2

    def missing(self, path, request):
        title, text = say(self, "hoster").split("|")
        return page(f"""<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}</title><style>.box {{width:600px;margin:8em auto}}</style></head>
<body><div class="box"><h1>{title}</h1><p>{text}</p><hr><small>{self.host} / srv{self.rng("srv").randint(1, 90)}</small></div></body></html>""")

    now = missing

    def front(self, request):
        return self.missing("/", request)


class Spa(Fifth):
    """An application in the place of the old site. Its server sends one frame for all paths, and its router knows none of the old ones."""

    truth, links, most_links = "soft_404", 3, 2

    def shell(self, request, head=""):
        build = self.rng("build").getrandbits(40)
        root = self.rng("root").choice(['<div id="app"></div>', '<div id="q-app"></div>', "<ember-app></ember-app>", '<div id="svelte"></div>'])
        return page(f"""<!DOCTYPE html><html lang="{self.language.code}"><head><meta charset="utf-8"><base href="/"><link rel="manifest" href="/manifest.webmanifest">
{head or f"<title>{self.name}</title>"}<script type="module" src="/_app/immutable/entry/start.{build:010x}.js"></script></head>
<body data-rid="{request.getrandbits(48):012x}">{root}<noscript>This application needs JavaScript.</noscript></body></html>""")

    def missing(self, path, request):
        return self.shell(request)

    now = missing

    def front(self, request):
        return self.shell(request)


class ScriptToStart(Fifth):
    """A page without words under each missing address, whose script or header leads a browser to the front page."""

    truth, links, alive_share = "soft_404", 3, 0.2

    def missing(self, path, request):
        way = self.rng("way").choice(['<script>window.location.replace("/");</script>', '<meta http-equiv="Refresh" content="0;URL=/">',
                                      f'<script type="text/javascript">top.location.href = "http://{self.host}/";</script>'])
        return page(f"<html><head>{way}</head><body></body></html>")

    now = missing


class SignInGone(Fifth):
    """What is missing leads to the form of those who write the site, as a content management does that guards drafts. The rest is open."""

    truth, links, alive_share = "soft_404", 3, 0.3

    def missing(self, path, request):
        place = self.rng("place").choice(["/wp-login.php?redirect_to=", "/user/signin?wantsurl=", "/acl_users/credentials/require?came_from="])
        if path.startswith(place.split("?")[0]):
            title, user, password, keep = say(self, "signin").split("|")
            return framed(self, title, f'<form method="post"><p>{user} <input name="log"></p><p>{password} <input type="password" name="pwd"></p>'
                          f'<label><input type="checkbox"> {keep}</label><input type="hidden" value="{request.getrandbits(80):020x}"></form>', request)
        return moved(place + urllib.parse.quote(path, safe=""))

    now = missing


class Withdrawn(Fifth):
    """A portal of an authority that withdrew a document, and says so in its place. To other paths some servers say 404, some the same."""

    truth, links, alive_share = "soft_404", 3, 0.25
    paths = ("/publications/{w}-{k}", "/documents/{y}/{w}.html", "/publications/view.aspx?docid={k}")

    def now(self, path, request):
        title, text = say(self, "withdrawn").split("|")
        return framed(self, title, f'<div class="notice" role="note"><p>{text}</p></div>', request, layout_typo3)

    def missing(self, path, request):
        return self.now(path, request) if self.rng("all").random() < 0.5 else hard_404(self, path, request)


class NoEntry(Fifth):
    """A catalogue or a tracker that has no entry of this number any more, in its own frame or in none."""

    truth, links, alive_share = "soft_404", 4, 0.25
    paths = ("/opac/full.php?id={k}", "/tracker/show_bug.cgi?id={k}", "/catalog/detail.asp?item={k}", "/db/entry.php3?nr={k}")

    def now(self, path, request):
        text = say(self, "record").format(k=path.rsplit("=", 1)[1])
        if self.rng("frame").random() < 0.3:
            return page(f"<html><head><title>{self.name}</title></head><body><p>{text}</p></body></html>")
        return framed(self, self.name, f'<p class="error">{text}</p><p><a href="/">{nav(self)[0]}</a></p>', request)


class ToCollection(Fifth):
    """A shop that leads the page of what it sells no more to the list of what it does."""

    truth, links, alive_share, paths = "soft_404", 3, 0.25, ("/products/{w}-{k}", "/products/{w}-{w}")

    def missing(self, path, request):
        if path == "/collections/all":
            goods = "".join(f"<div class='grid-item'><a href='{place}'>{name}</a> <span>{self.rng('price', name).randint(4, 300)}.00</span></div>"
                            for name, place in headlines(self, self.rng("goods"), 12))
            return framed(self, nav(self)[4], goods, request, layout_builder)
        return moved("/collections/all", 301) if path.startswith("/products/") else hard_404(self, path, request)

    now = missing


class FileHost(Fifth):
    """The page of a file at a service for files, before its download."""

    links, paths = 2, ("/file/{k}/{w}.zip.html", "/file/{k}/{w}{w}.rar", "/file/{k}/{w}.mp3")

    def download(self, title, body, request):
        return page(f"""<!DOCTYPE html><html><head><meta charset="utf-8"><title>{self.name} - {title}</title></head><body><div id="top"><a href="/">{self.name}</a>
{anchors(menu(self, 2)[:5], "<span>{}</span>")}</div><div id="dl"><h1>{title}</h1>{body}</div><div id="ft">{request.randint(100, 999)} MB/s</div></body></html>""")

    def article(self, path, request, theme=None):
        rng, name = self.rng("file", path), path.rsplit("/", 1)[1].removesuffix(".html")
        return self.download(name, f"<p>{rng.randint(100, 99999)} KB, MD5 {rng.getrandbits(128):032x}</p><p>{' '.join(sentences(self, rng, 3))}</p><a href='/get'>Download {name}</a>", request)


class FileGone(FileHost):
    """A file that its service deleted, and all that the service does not have."""

    truth, links, alive_share = "soft_404", 4, 0.2

    def missing(self, path, request):
        if not path.startswith("/file/"):
            return hard_404(self, path, request)
        title, text = say(self, "file").split("|")
        return self.download(title, f"<p>{text}</p>", request)

    now = missing


# Parked.


class Parked(Fifth):
    """A name that nobody uses: one page for all paths."""

    truth, links, most_links = "parked", 0, 2

    def domain(self):
        prefix = next((prefix for prefix in PREFIXES if self.host.startswith(prefix)), "")
        return self.host.removeprefix(prefix)

    def missing(self, path, request):
        return self.now(path, request)

    def front(self, request):
        return self.now("/", request)


KEYWORDS = {
    "en": "Medicare Plans|Cloud Storage|Electric Cars|Hair Transplant|Cordless Drill|Online MBA|Roof Repair|Senior Dating|Cruises 2026|Tax Software|Pet Insurance",
    "de": "Zahnversicherung|Elektroauto Leasing|Treppenlifte|Fertighaus|Onlinekredit|Kreuzfahrten|Gartenhaus|Steuerberater",
    "fr": "Pompe à chaleur|Rachat de crédit|Cuisine équipée|Location voiture|Croisières|Assurance animaux|Avocat divorce",
    "es": "Coches eléctricos|Seguro dental|Hipotecas|Cruceros|Reformas de cocina|Másteres online|Abogado de herencias",
    "da": "Elbil|Tandlæge|Billån|Sommerhus|Krydstogt|Køkken", "fi": "Lainavertailu|Sähköauto|Risteilyt|Keittiöremontti|Matkavakuutus|Hammaslääkäri",
    "cs": "Půjčka online|Elektromobily|Zájezdy|Kuchyně na míru|Zubní ordinace|Pojištění psa", "tr": "Elektrikli araç|Kasko|Tatil köyleri|Saç ekimi|Mutfak dolabı|Kredi kartı",
    "el": "Ηλεκτρικά αυτοκίνητα|Δάνεια|Κρουαζιέρες|Οδοντίατρος|Κουζίνες|Ασφάλεια ζώων", "uk": "Електромобілі|Кредит онлайн|Круїзи|Стоматолог|Кухні|Страхування",
}


class Feed(Parked):
    """Links by keyword, as parking services of these years show them; others at each request."""

    links = 5
    services = ['<script src="https://www.google.com/adsense/domains/caf.js?abp=1&adsdeli=true"></script><link rel="stylesheet" href="//assets.skenzo.com/parking/rs.css">',
                '<script type="text/javascript" src="https://parking.parklogic.com/page/enhance.js?pcId=7"></script>',
                '<script src="https://www.google.com/adsense/domains/caf.js"></script><script src="/px.js?ch=2&abp=1"></script>',
                '<script src="https://www.google.com/adsense/domains/caf.js"></script><img src="//click.ndparking.com/px.gif" width="1" height="1">',
                '<script>var __rf={"channel":"ron"};</script><script async src="/ads.js"></script>']

    def now(self, path, request):
        rng, domain = self.rng("feed"), self.domain()
        head, note, buy = say(self, "related").split("|")
        words = KEYWORDS[self.language.code].split("|")
        items = "".join(f'<div class="block"><a class="kw" href="/l?q={urllib.parse.quote(word)}&s={request.getrandbits(60):x}"><span>{word}</span></a></div>'
                        for word in request.sample(words, min(len(words), rng.randint(4, 8))))
        top = f'<div class="ribbon"><a href="/offer">{buy}</a></div>' if rng.random() < 0.5 else ""
        return page(f"""<!doctype html><html lang="{self.language.code}"><head><meta charset="utf-8"><title>{domain}</title><meta name="robots" content="noindex,nofollow">
{rng.choice(self.services)}<script>window._trackid="{request.getrandbits(90):023x}";</script></head><body>{top}<div id="header"><h1>{domain}</h1></div>
<div id="rs"><p>{head}</p>{items}</div><div id="footer"><p>{note}</p></div></body></html>""")


class Portal(Parked):
    """Parking as it was before: a portal of keywords around a picture and a field for a search."""

    links, languages = 3, WESTERN
    heads = {"en": ("Popular Searches", "Popular Categories", "Bookmark this page", "Make this your homepage", "Inquire about this domain"),
             "de": ("Beliebte Suchen", "Beliebte Kategorien", "Zu Favoriten", "Als Startseite", "Diese Domain kaufen?"),
             "fr": ("Recherches populaires", "Catégories", "Ajouter aux favoris", "Page de démarrage", "Acquérir ce nom de domaine"),
             "es": ("Búsquedas populares", "Categorías", "Agregar a favoritos", "Página de inicio", "Consultar por este dominio")}
    services = ["http://landing.domainsponsor.com/results.php?d={d}&q=", "http://www.fabulous.com/informant/?d={d}&q=", "http://www.smartname.com/s?d={d}&k=",
                "http://{d}/?epl=t7&kw="]

    def now(self, path, request):
        rng, domain = self.rng("portal"), self.domain()
        searches, categories, favourite, home, ask = self.heads[self.language.code]
        words = KEYWORDS[self.language.code].split("|")
        to = rng.choice(self.services).format(d=domain)
        cell = lambda word: f'<td><a href="{to}{urllib.parse.quote(word)}&sid={request.getrandbits(32):08x}">{word}</a></td>'
        rows = "".join(f"<tr>{cell(a)}{cell(b)}</tr>" for a, b in zip(words[::2], words[1::2]))
        return page(f"""<html><head><title>{domain}: {", ".join(request.sample(words, 3))}</title></head><body bgcolor="#FFFFFF"><table width="760" align="center">
<tr><td><font size="5">{domain}</font></td><td align="right"><a href="#">{favourite}</a> | <a href="#">{home}</a></td></tr>
<tr><td colspan="2"><img src="http://images.{rng.choice(["pix", "stock", "photo"])}-parking.com/lady{rng.randint(1, 90)}.jpg"></td></tr>
<tr><td valign="top"><b>{searches}</b><br>{"<br>".join(request.sample(words, 4))}</td><td><b>{categories}</b><table>{rows}</table></td></tr>
<tr><td colspan="2" align="center"><form action="/search"><input name="q" size="40"></form><a href="/inquire">{ask}</a></td></tr></table></body></html>""")


class Sale(Parked):
    """An offer of the name, on a page of a broker or of its owner."""

    links = 6

    def now(self, path, request):
        rng = self.rng("sale")
        title, text, button = (part.format(d=self.domain(), p=rng.choice([349, 990, 2495, 8900, 45000])) for part in say(self, "offer").split("|"))
        service = rng.choice(["https://www.atom.com/name/", "https://www.efty.com/", "https://www.spaceship.com/domain/", "https://domainagents.com/offer/",
                              "https://www.dynadot.com/market/", "https://saw.com/buy/", None, None])
        if service is None:
            return page(f"""<html><head><title>{self.domain()}</title></head><body><table height="100%" align="center"><tr><td><h1>{title}</h1><p>{text}</p>
<p>{button}: {self.names[0].lower()}@{rng.choice(["mail", "box", "post"])}.{self.host.rsplit(".", 1)[1]}</p></td></tr></table></body></html>""")
        return page(f"""<!DOCTYPE html><html lang="{self.language.code}"><head><meta charset="utf-8"><title>{title}</title><meta name="viewport" content="width=device-width">
</head><body><div class="hero"><span class="tld">.{self.domain().rsplit(".", 1)[1]}</span><h1>{self.domain()}</h1><h2>{title}</h2><p>{text}</p>
<a class="cta" rel="nofollow" href="{service}{self.domain()}?v={request.getrandbits(40):x}">{button}</a></div>
<ul class="trust"><li>Escrow</li><li>Visa</li><li>SSL</li></ul></body></html>""")


class ToMarket(Parked):
    """A redirect to the page of this name at a market for names."""

    links = 4

    def now(self, path, request):
        return moved(self.rng("market").choice([f"http://www.godaddy.com/forsale/{self.domain()}?utm_source=TDFS_BINNS&utm_medium=parkedpages",
                                                f"http://sedo.com/search/details/?partnerid=14460&language=e&domain={self.domain()}"]))


class Market(Parked):
    """The market that offers of names lead to."""

    def now(self, path, request):
        name = (urllib.parse.parse_qs(path.partition("?")[2]).get("domain") or [path.split("?")[0].rsplit("/", 1)[1]])[0]
        return page(f"""<!doctype html><html lang="en"><head><title>{name} | Domain name for sale</title></head><body><h1>{name}</h1><div class="price"><p>The owner is
selling this domain name. Asking price: {1000 + sum(map(ord, name))} USD</p><button>Add to basket</button><button>Suggest a price</button></div>
<p>Transfer within five days. Need help? Our brokers speak nine languages.</p><script>s="{request.getrandbits(64):x}"</script></body></html>""")


class AtRegistrar(Parked):
    """The default page of a registrar, for a name without a site."""

    links = 5
    firms = {
        "en": (("Name.com", "www.name.com", "{d} was just registered through Name.com. Its owner has not set up a web site."),
               ("123 Reg", "www.123-reg.co.uk", "{d} has been registered by a customer of 123 Reg and is parked here until a site is published."),
               ("Enom", "www.enom.com", "The domain {d} was bought through an Enom reseller and is parked."),
               ("Fasthosts", "www.fasthosts.co.uk", "Welcome to the future home of {d}. Domain registered via Fasthosts.")),
        "de": (("INWX", "www.inwx.de", "Die Domain {d} wurde über INWX registriert. Inhalte wurden noch nicht hinterlegt."),
               ("checkdomain", "www.checkdomain.de", "Die Domain {d} ist registriert und bei checkdomain geparkt.")),
        "fr": (("LWS", "www.lws.fr", "Le domaine {d} vient d'être enregistré chez LWS. Son titulaire n'a pas encore publié de site."),
               ("Infomaniak", "www.infomaniak.com", "Le nom de domaine {d} est enregistré et stationné chez Infomaniak.")),
        "es": (("Nominalia", "www.nominalia.com", "El dominio {d} está registrado y aparcado en Nominalia."),
               ("Piensa Solutions", "www.piensasolutions.com", "El dominio {d} ha sido reservado por un cliente de Piensa Solutions.")),
        "da": (("Simply.com", "www.simply.com", "Domænet {d} er registreret og parkeret hos Simply.com."),),
        "fi": (("Zoner", "www.zoner.fi", "Verkkotunnus {d} on rekisteröity Zonerin kautta ja pysäköity."),),
        "cs": (("Forpsi", "www.forpsi.com", "Doména {d} je zaregistrována u společnosti FORPSI a zaparkována."), ("WEDOS", "www.wedos.cz",
               "Doména {d} je zaparkována u WEDOS.")),
        "tr": (("Natro", "www.natro.com", "{d} alan adı Natro üzerinden kaydedilmiş ve park edilmiştir."),),
        "el": (("Papaki", "www.papaki.com", "Το όνομα χώρου {d} έχει κατοχυρωθεί μέσω του Papaki."),),
        "uk": (("NIC.UA", "nic.ua", "Домен {d} зареєстровано через NIC.UA та припарковано."),),
    }

    def now(self, path, request):
        firm, host, text = self.rng("firm").choice(self.firms[self.language.code])
        return page(f"""<!DOCTYPE html><html lang="{self.language.code}"><head><meta charset="utf-8"><title>{self.domain()}</title><link rel="icon" href="https://{host}/favicon.ico">
</head><body><header><a href="https://{host}/"><img src="https://{host}/logo.png" alt="{firm}"></a></header><main><p class="big">{text.format(d=self.domain())}</p>
<a class="button" href="https://{host}/?from={self.domain()}">{firm}</a></main><footer>&copy; {firm}</footer></body></html>""")


class Lapsed(Parked):
    """A registration that has ended, as its registrar says under each address, with or without advertisements."""

    links = 4

    def now(self, path, request):
        rng, domain = self.rng("lapsed"), self.domain()
        title, text = (part.format(d=domain, day=day(rng)) for part in say(self, "expired").split("|"))
        firm = rng.choice(["www.name.com", "www.ovhcloud.com", "www.joker.com", "www.gandi.net", "www.domaindiscover.com", "www.bluehost.com"])
        words = KEYWORDS[self.language.code].split("|")
        ads = "".join(f'<li><a href="/c?{request.getrandbits(40):x}">{word}</a></li>' for word in request.sample(words, 4)) if rng.random() < 0.4 else ""
        return page(f"""<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}</title></head><body><div class="notice"><h1>{title}</h1><p>{text}</p>
<a href="https://{firm}/renew">{firm}</a></div><ul>{ads}</ul></body></html>""")


class Drop(Parked):
    """A name that an auctioneer of expired names offers before it is deleted."""

    links = 3

    def now(self, path, request):
        rng = self.rng("drop")
        title, text, button = (part.format(d=self.domain(), day=f"{rng.randint(1, 28)}.12.2026") for part in say(self, "drop").split("|"))
        firm = rng.choice(["www.snapnames.com", "www.namejet.com", "www.dropcatch.com", "nicsell.com"])
        return page(f"""<!DOCTYPE html><html lang="{self.language.code}"><head><meta charset="utf-8"><title>{title}</title></head><body><div class="lot"><h1>{title}</h1>
<p>{text}</p><p><b>{rng.randint(1, 40)}</b> / {rng.randint(19, 900)} $</p><a href="https://{firm}/domain/{self.domain()}">{button}</a></div></body></html>""")


class Blank(Parked):
    """A page of a parking service without words, whose script draws the advertisements."""

    links = 2

    def now(self, path, request):
        if self.rng("service").random() < 0.6:
            data = base64.b64encode(f'{{"uuid":"{request.getrandbits(128):032x}","page_url":"http://{self.host}{path}","page_method":"GET"}}'.encode()).decode()
            return page(f"""<!doctype html><html data-adblockkey="MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBANDrp2lz7AOmADaN8tA50LsWcjLFyQFcb/P2Txc58oYOeILb3vBw7J6f4pamkAQVSQuqYsKx3YzdUHCvbVZvFUsCAwEAAQ=="
lang="en" style="background: #2B2B2B;"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="preconnect" href="https://www.google.com" crossorigin></head><body><div id="target" style="opacity: 0"></div><script>window.park = "{data}";</script>
<script src="/b{self.rng("js").getrandbits(32):08x}.js"></script></body></html>""")
        return page(f"""<html><head><title>{self.domain()}</title></head><frameset rows="100%,*" border="0"><frame
src="http://parking.parklogic.com/?domain={self.domain()}&u={request.getrandbits(40):x}" frameborder="0"><noframes></noframes></frameset></html>""")


# Taken over.


class Newcomer(Fifth):
    """The site of the new owner, with draws of its own."""

    is_newcomer = True

    def rng(self, *key):
        return super().rng("newcomer", *key)


class Owner(Fifth):
    """Another owner than that of the citation. `codes` are the languages of the new one; without them, it keeps that of the old."""

    truth, links, captured_after, most_links = "taken_over", 0, 0.5, 2
    paths, codes, themes = ("/", "/", "/index.html", "/{w}.html", "/pages/{w}/", "/{w}/{w}.html"), None, (layout_static, layout_paper, layout_builder, layout_typo3)

    def __init__(self, *args):
        super().__init__(*args)
        rng = self.rng("owner")
        code = rng.choice(self.codes or [self.language.code])
        self.language = self.language.voice(0)
        self.new = Newcomer(*args[:3], LANGUAGES[code].voice(1))
        self.new.subject = rng.choice([subject for subject in self.new.language.subjects if code != self.language.code or subject != self.subject])
        self.new.name = f"{self.new.names[12]} {rng.choice(['Journal', 'Lab', 'Collective', 'Hub', 'House', 'Works'])}"
        self.new.theme = rng.choice(self.themes)
        # Two people share the words of their language that say no more than this.
        for language in (self.language, self.new.language):
            language.words["A"] = LANGUAGES[language.code].words["A"]

    def now(self, path, request):
        return self.front(request) if path in ("/", "/index.html") else self.new.article(path, request)

    def missing(self, path, request):
        return hard_404(self.new, path, request)

    def front(self, request):
        return front(self.new, request)

    def then(self, path, year):
        if path in ("/", "/index.html"):
            return front(self, self.rng("then", year))
        return self.article(path, self.rng("then", year), self.old_theme)


SAY["id"] = {**SAY["en"], "nav": ("Beranda|Promo|Daftar|Masuk|Bantuan|Blog|Syarat|Kontak",) * 2, "read": "Selengkapnya", "updated": "Diperbarui",
             "lost": ("Halaman tidak ditemukan|Alamat ini tidak ada.",)}


class Slots(Owner):
    """Games of chance, for players of another country as a rule, under the paths that others link to."""

    links, codes = 5, ("id", "id", "id", "tr", "en", "de")
    words = {"id": "slot gacor|bonus new member|RTP live|deposit pulsa|jackpot|togel|scatter|link alternatif|maxwin|akun demo",
             "tr": "bahis sitesi|casino|bonus|güncel giriş|slot|yatırım|çevrimsiz|canlı bahis|rulet", "en": "megaways|no deposit bonus|live casino|free spins|bookie|wager|cashout|high roller",
             "de": "Spielbank|Freispiel|Bonuscode|Walzen|Sportwette|Auszahlung|Willkommenspaket"}

    def now(self, path, request):
        rng, words = self.rng("slots", path), self.words[self.new.language.code].split("|")
        body = "".join(f"<h2>{' '.join(rng.sample(words, 2)).title()}</h2><p>{self.new.language.paragraph(rng, words, self.new.names, 3, 6)}</p>" for _ in range(rng.randint(3, 6)))
        brand = f"{self.new.names[0].upper()}{self.rng('brand').choice([77, 88, 99, 138, 303, 777])}"
        return framed(self.new, f"{brand}: {', '.join(rng.sample(words, 3))}", body, request)

    def front(self, request):
        return self.now("/", request)


class Goods(Owner):
    """Pills, watches or essays, which sell by links from old sites."""

    links, codes = 3, ("en",)
    words = {"Pharmacy": "tablet|dosage|prescription|supplement|capsule|refill|pharmacist|shipment|side effect|generic", "Replica Outlet": "watch|handbag|bezel|leather strap|sneaker|outlet|warranty card|courier|discount",
             "Essay Service": "essay|dissertation|deadline|writer|outline|plagiarism report|bibliography|revision|coursework"}

    def now(self, path, request):
        trade = self.rng("trade").choice(list(self.words))
        rng, words = self.rng("goods", path), self.words[trade].split("|")
        items = "".join(f"<div class='product'><h3>{rng.choice(words).title()} {rng.choice(self.new.names)}</h3><p>{self.new.language.paragraph(rng, words, self.new.names, 1, 3)}</p><b>${rng.randint(9, 300)}.99</b></div>"
                        for _ in range(rng.randint(4, 9)))
        return framed(self.new, f"Buy {rng.choice(words).title()} Online | {self.new.names[2]} {trade}", items, request, layout_builder)

    def front(self, request):
        return self.now("/", request)


class Guests(Owner):
    """A farm of articles that goes by the name of the old site, and sells space to guests."""

    links, languages = 4, WESTERN
    words = {"en": ("Business, Tech & Lifestyle", "Write for us", "startup|mortgage|skincare|crypto|influencer|laptop|keto diet|real estate|webinar|sneakers"),
             "de": ("Wirtschaft, Technik & Lifestyle", "Gastbeitrag buchen", "Startup|Baufinanzierung|Hautpflege|Krypto|Influencer|Diät|Immobilien|Webinar"),
             "fr": ("Business, Tech et Bien-être", "Publier un article invité", "startup|crédit immobilier|soin visage|crypto|influenceur|régime|webinaire"),
             "es": ("Negocios, Tecnología y Estilo", "Publicar artículo invitado", "startup|hipoteca|cosmética|criptomoneda|influencer|dieta|inmueble")}

    def now(self, path, request):
        rng = self.rng("guests", path)
        line, write, words = self.words[self.new.language.code]
        words = words.split("|")
        posts = "".join(f"<h2><a href='/{number}'>{rng.randint(5, 21)} {rng.choice(words).title()} {rng.randint(2023, 2026)}</a></h2><p>{self.new.language.paragraph(rng, words, self.new.names, 2, 4)}</p>"
                        for number in range(rng.randint(4, 7)))
        self.new.name = self.name
        return framed(self.new, f"{self.name} – {line}", f"{posts}<p><a href='/write-for-us/'>{write}</a></p><p>&copy; 2022 {self.new.names[4]} Media LLC</p>", request, layout_paper)

    def front(self, request):
        return self.now("/", request)

    def missing(self, path, request):
        self.new.name = self.name
        return hard_404(self.new, path, request)


class SameWord(Owner):
    """A firm whose name is that of the old owner by chance, in a trade of its own."""

    links, languages, paths = 4, WESTERN, ("/", "/", "/index.html", "/about/", "/contact/", "/news/")
    words = {"en": ("Analytics|Logistics|Robotics|Payroll", "platform|dashboard|workflow|invoice|enterprise plan|onboarding|integration|compliance|product demo|pricing tier"),
             "de": ("Logistik|Software|Energie|Beratung", "Plattform|Lösung|Rechnung|Schnittstelle|Kunde|Preisliste|Vorführung|Datenschutz|Lieferkette"),
             "fr": ("Conseil|Logiciels|Énergie", "plateforme|solution|facture|client|tarif|démonstration|logistique|conformité"),
             "es": ("Consultores|Energía|Logística", "plataforma|solución|factura|cliente|tarifa|demostración|almacén|normativa")}

    def now(self, path, request):
        rng = self.rng("firm", path)
        trades, words = (text.split("|") for text in self.words[self.new.language.code])
        self.new.name = f"{self.name.split()[0]} {self.rng('trade').choice(trades)}"
        body = "".join(f"<section><h2>{' & '.join(rng.sample(words, 2)).capitalize()}</h2><p>{self.new.language.paragraph(rng, words, self.new.names, 2, 3)}</p></section>" for _ in range(4))
        return framed(self.new, f"{self.new.name} {path.strip('/').capitalize() if path not in ('/', '/index.html') else ''}".strip(), f"{body}<p>&copy; {self.new.name} {rng.choice(['Ltd', 'Inc', 'SA', 'AG'])}, {self.new.names[5]}, 2019-2026</p>", request)

    def front(self, request):
        return self.now("/", request)


class SameSubject(Owner):
    """Another owner who writes on the subject of the old one, and says that the two have nothing to do with each other."""

    links, languages = 4, WESTERN
    texts = {"en": ("Best {n} of 2026: {k} tested", "This web site was started in 2022. It has no connection with the group that used this address before. We earn a commission when you buy through our links."),
             "de": ("Die besten Produkte 2026 rund um {n}", "Diese Website gibt es seit 2022. Mit dem Verein, der diese Adresse früher nutzte, haben wir nichts zu tun. Für Käufe über unsere Links erhalten wir eine Provision."),
             "fr": ("{n} : notre comparatif 2026", "Ce site existe depuis 2022 et n'a aucun lien avec l'association qui utilisait cette adresse autrefois. Nous touchons une commission sur vos achats."),
             "es": ("{n}: comparativa 2026", "Esta web nació en 2022 y no tiene relación con el grupo que usaba antes esta dirección. Recibimos una comisión por sus compras.")}

    def now(self, path, request):
        self.new.subject = self.subject
        rng = self.rng("reviews", path)
        title, note = self.texts[self.new.language.code]
        noun = rng.choice(self.new.language.subjects[self.subject])
        body = "".join(f"<h3>{number}. {rng.choice(self.new.names)} {rng.randint(100, 900)}</h3><p>{self.new.language.paragraph(rng, self.subject, self.new.names, 2, 4)}</p><a rel='sponsored'>{rng.randint(20, 900)},- </a>"
                        for number in range(1, rng.randint(4, 7)))
        return framed(self.new, title.format(n=noun.capitalize(), k=rng.randint(5, 15)), f"{body}<p class='disclosure'>{note}</p>", request, layout_builder)

    def front(self, request):
        return self.now("/", request)

    def missing(self, path, request):
        self.new.subject = self.subject
        return hard_404(self.new, path, request)


class Elsewhere(Owner):
    """A club or a paper of another country, in its language."""

    links, languages, codes = 4, ("en", "en", "de", "fr", "es", "da"), ("fi", "cs", "tr", "el", "uk", "cs", "tr")


class Portrait(Owner):
    """A person who shows what they do under a name that became free."""

    links, paths = 3, ("/", "/", "/index.html", "/about/")
    languages = WESTERN
    trades = {"en": "photographer|illustrator|yoga teacher|ceramic artist", "de": "Fotografin|Illustrator|Yogalehrerin|Hochzeitsrednerin", "fr": "photographe|illustratrice|coach de vie",
              "es": "fotógrafa|ilustrador|profesora de yoga"}

    def now(self, path, request):
        rng = self.rng("portrait", path)
        self.new.name = f"{self.new.names[6]} {self.new.names[7]}"
        trade = self.rng("trade").choice(self.trades[self.new.language.code].split("|"))
        body = f"<p>{self.new.language.paragraph(rng, self.new.subject, self.new.names, 4, 7)}</p>" + "".join(f'<img src="/g/{number}.webp" alt="{rng.choice(self.new.names)}">' for number in range(8))
        return framed(self.new, f"{self.new.name}, {trade}", body, request, layout_builder)

    def front(self, request):
        return self.now("/", request)


# Living.


class Essay(Fifth):
    """Articles of all lengths and layouts."""

    links = 8


class Post(Fifth):
    """An entry of a blog, with comments, and with lists beside it that change every day."""

    links, paths = 4, ("/{y}/{w}-{k}", "/blog/{w}-{w}/", "/?p={k}", "/archives/00{k}.html")

    def article(self, path, request, theme=None):
        title, body = self.text(path)
        rng = self.rng("comments", path)
        said = "".join(f"<li><cite>{rng.choice(self.names)}</cite> {' '.join(sentences(self, rng, rng.randint(1, 2)))}</li>" for _ in range(rng.randint(0, 6)))
        return framed(self, title, f"{body}<h3>{said.count('<li>')} {say(self, 'comments')}</h3><ol>{said}</ol><div class='tags'>{anchors(headlines(self, request, 3), '{} ')}</div>", request, theme)


class MovedIn(Fifth):
    """The pages of an old site in a new content management: the address leads on, the text is the same."""

    links, redesigned_share = 3, 1.0

    def now(self, path, request):
        return moved(f"/archive/{self.rng('id', path).randint(100, 9999)}{path.replace('?', '-').replace('=', '-').rsplit('.', 1)[0].rstrip('/')}/", 301)

    def missing(self, path, request):
        for old in sorted(self.truths):
            if dict(self.now(old, request)[1])["Location"] == path:
                return self.article(old, request, layout_typo3)
        return hard_404(self, path, request)

    def then(self, path, year):
        return self.article(path, self.rng("then", year), layout_nineties)


class Renamed(Fifth):
    """An owner that took another name: new texts, on the subject and with the people of old, and a word on the name."""

    truth, links, paths = "changed", 3, ("/", "/about.html", "/index.html", "/history/")

    def now(self, path, request):
        renamed, rng = self.renamed(), self.rng("renamed", path)
        body = f"<p><i>{renamed.name} ({say(self, 'formerly').format(self.name)})</i></p>" + "".join(
            f"<p>{self.language.paragraph(rng, self.subject, self.names)}</p>" for _ in range(4))
        return framed(renamed, renamed.name, body, request, layout_builder)

    def missing(self, path, request):
        return hard_404(self.renamed(), path, request)

    def renamed(self):
        site = copy.copy(self)
        site.name = f"{self.names[9]} {self.name.split()[-1]}"
        return site

    def front(self, request):
        return self.now("/", request)


class InTranslation(Fifth):
    """A page of the same owner in another language, with its name, people and address, and a link to the first language."""

    truth, links, languages = "living", 3, ("da", "fi", "cs", "de", "fr", "el")

    def now(self, path, request):
        abroad, rng, code = copy.copy(self), self.rng("translated", path), self.language.code
        abroad.language = LANGUAGES["en"]
        abroad.subject = self.rng("subject").choice(list(abroad.language.subjects))
        body = "".join(f"<p>{abroad.language.paragraph(rng, abroad.subject, self.names)}</p>" for _ in range(4))
        choice = f'<a hreflang="{code}" href="/{code}{path}">{code}</a>'
        return framed(abroad, f"{self.names[0]} – {self.name}", f"{choice}{body}{self.address()}", request)

    def then(self, path, year):
        return framed(self, f"{self.names[0]} – {self.name}", self.text(path)[1] + self.address(), self.rng("then", year), self.old_theme)

    def address(self):
        rng = self.rng("address")
        return f"<address>{self.name}, {self.names[1]} {rng.randint(1, 99)}, {rng.randint(1000, 9999)} {self.names[2]}. Tel. +{rng.randint(10**9, 10**10)}</address>"


class TwoLanguages(Fifth):
    """A page that says all in two languages."""

    links, languages = 3, ("fi", "cs", "el", "tr", "de", "fr")

    def text(self, path):
        title, body = super().text(path)
        rng, language = self.rng("second", path), LANGUAGES["en"]
        subject = rng.choice(list(language.subjects))
        second = "".join(f'<p lang="en">{language.paragraph(rng, subject, self.names)}</p>' for _ in range(2))
        return f"{title} / {language.title(rng, subject, self.names)}", f"{body}<hr>{second}"


class Encoded(Fifth):
    """A page in an encoding of its language when it was cited, and in UTF-8 today, or in the old one still."""

    links, languages = 5, ("de", "fr", "es", "da", "fi", "cs", "tr", "el", "uk")
    charsets = {"cs": "windows-1250", "tr": "iso-8859-9", "el": "iso-8859-7", "uk": "koi8-u"}

    def then(self, path, year):
        title, body = self.text(path)
        charset = self.charsets.get(self.language.code, "iso-8859-1")
        text = layout_nineties(self, title, body, self.rng("then", year)).replace("</TITLE>", f'</TITLE><META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset={charset}">')
        kind = f"text/html; charset={charset}" if self.rng("header").random() < 0.5 else "text/html"
        return 200, {"Content-Type": kind}, text.encode(charset, "xmlcharrefreplace")

    def now(self, path, request):
        return self.then(path, 2026) if self.rng("still").random() < 0.3 else self.article(path, request)


class OnNotFound(Fifth):
    """A page whose subject is what is not found: status codes, error pages, broken links."""

    links, languages, paths = 4, WESTERN, ("/{w}/404.html", "/http/status-{k}.html", "/faq/{w}.html")
    words = {"en": "404 page|dead link|status 410|error handler|.htaccess rule|browser message|missing document|redirect loop|not found response",
             "de": "404-Seite|toter Link|Status 410|Fehlerdokument|Weiterleitung|nicht gefundene Seite|Serverantwort", "fr": "page 404|lien mort|statut 410|page introuvable|redirection|réponse du serveur",
             "es": "página 404|enlace roto|estado 410|página no encontrada|redirección|respuesta del servidor"}
    titles = {"en": ("Link rot: why pages are not found", "A gallery of funny 404 pages", "Troubleshooting: “Page not found”"), "de": ("Wenn die Seite nicht gefunden wird", "Tote Links: eine Sammlung"),
              "fr": ("Page introuvable : que faire ?", "Les plus belles pages 404"), "es": ("¿Página no encontrada? Causas y remedios", "Galería de errores 404")}

    def text(self, path):
        rng, code = self.rng("text", path), self.language.code
        words = self.words[code].split("|")
        return rng.choice(self.titles[code]), "".join(f"<h3>{rng.choice(words)}</h3><p>{self.language.paragraph(rng, words, self.names)}</p>" for _ in range(rng.randint(3, 7)))


class OnNames(Fifth):
    """News, advice and decisions on names that are sold, parked, expired and auctioned."""

    links, languages = 4, ("en", "en", "de")
    lines = {"en": ["The name {d} changed hands for {k} dollars in {y}.", "Before a domain expires its owner gets {k} letters from the registrar.", "We asked the seller why {d} is for sale again.",
                    "Parked pages with sponsored links earned {k} cents a day in {y}.", "An arbitrator ordered the transfer of {d} to the complainant.", "Backorders at the auction house cost {k} dollars, also for a name that nobody wants.",
                    "Make an offer, wait a week, and never mention {d} to a broker.", "The registry keeps an expired name for {k} days in redemption.", "My column of {y} on premium names drew {k} letters."],
             "de": ["Die Domain {d} wechselte {y} für {k} Euro den Besitzer.", "Vor dem Ablauf einer Domain schreibt der Registrar {k} Mal.", "Warum {d} schon wieder zum Verkauf steht, wollten wir vom Inhaber wissen.",
                    "Geparkte Seiten mit Anzeigen brachten {y} kaum {k} Cent am Tag ein.", "Das Landgericht sprach {d} der Klägerin zu.", "Ein Gebot von {k} Euro ist bei Auktionen keine Seltenheit."]}

    def text(self, path):
        rng, lines = self.rng("text", path), self.lines[self.language.code]
        said = [rng.choice(lines).format(d=f"{self.language.coin(rng).lower()}.{rng.choice(['com', 'net', 'de'])}", k=rng.randint(3, 9000), y=rng.randint(1998, 2004)) for _ in range(rng.randint(8, 16))]
        title = {"en": "{}: the market for domain names", "de": "{}: Handel mit Domains"}[self.language.code].format(self.language.coin(rng))
        return title, "".join(f"<p>{' '.join(said[at:at + 3])}</p>" for at in range(0, len(said), 3))


class Hosting(Fifth):
    """The pages of a firm that sells names and space, at the prices of the day."""

    truth, links, languages, paths = "changed", 3, ("en", "de", "fr"), ("/", "/domains/", "/hosting.html", "/prices/")
    texts = {"en": ("Register your domain", "Is your domain name still free? .com from {a}.99 a year, .org from {b}.99.|Transfer a domain to us and get a year of mail.|Park a domain without cost until your site is ready.|We renew names before they expire.|Server space from {k} MB, backups every night."),
             "de": ("Domain registrieren", "Ist Ihre Wunschdomain noch frei? .de ab {a},99 im Jahr, .com ab {b},99.|Ziehen Sie Ihre Domain zu uns um.|Domains parken Sie bei uns kostenlos.|Wir verlängern, bevor Ihre Domain abläuft.|Webspace ab {k} MB mit täglicher Sicherung."),
             "fr": ("Enregistrer un domaine", "Votre nom de domaine est-il libre ? .fr dès {a},99 par an, .com dès {b},99.|Transférez un domaine chez nous.|Parking de domaine gratuit.|Renouvellement avant expiration.|Espace disque dès {k} Mo.")}

    def now(self, path, request, year=2026):
        rng = self.rng("prices", path, year)
        title, lines = self.texts[self.language.code]
        body = "".join(f"<p>{line.format(a=rng.randint(3, 19), b=rng.randint(5, 35), k=rng.randint(10, 9000))}</p>" for line in lines.split("|"))
        return framed(self, f"{self.name.split()[0]} Net – {title}", f"<form action='/whois'><input name='name'></form>{body}<p>{' '.join(sentences(self, rng, 4))}</p>", request)

    def front(self, request):
        return self.now("/", request)

    def then(self, path, year):
        return self.now(path, self.rng("then", year), year)


class Little(Fifth):
    """Pages of a few words: a picture, a frame set, a line, a table of numbers."""

    links = 4

    def article(self, path, request, theme=None):
        rng = self.rng("little", path)
        name, word = self.language.coin(rng), rng.choice(self.language.subjects[self.subject])
        return page(rng.choice([
            f"<html><head><title>{name}</title></head><body bgcolor=black text=white><center><img src={self.slug(rng)}.jpg><p>{name} {rng.randint(1990, 2004)}</center></body></html>",
            f'<html><head><title>{name} {word}</title></head><frameset rows="90,*"><frame src="top.htm"><frame src="main.htm"></frameset></html>',
            f"<html><body><p>{' '.join(sentences(self, rng, 2))}</p></body></html>",
            f"<title>{word}</title><table>{''.join(f'<tr><td>{number}<td>{rng.randint(1, 999)}' for number in range(rng.randint(3, 12)))}</table>",
            f"<html><head><title>{name}</title></head><body><embed src='{name.lower() if name.isascii() else 'a'}.swf' width=500 height=300></body></html>"]))


class Huge(Fifth):
    """A handbook or a list in one page of some hundred kilobytes."""

    links, paths = 2, ("/handbook/all.html", "/{w}/complete.html")

    def text(self, path):
        rng = self.rng("text", path)
        chapters = [f"<h2>{number}. {self.language.title(rng, self.subject, self.names)}</h2><p>{self.language.paragraph(rng, self.subject, self.names, 6, 9)}</p>" for number in range(1, 700)]
        return f"{self.name}: {self.language.title(rng, self.subject, self.names)}", "\n".join(chapters)


class Folder(Fifth):
    """A folder as its server lists it, in a table."""

    links, paths = 3, ("/pub/{w}/", "/mirror/{w}{k}/", "/~{w}/src/")

    def article(self, path, request, theme=None):
        rng = self.rng("folder", path)
        rows = "".join(f'<tr><td><img src="/icons/compressed.gif" alt="[   ]"></td><td><a href="{name}">{name}</a></td><td align="right">200{rng.randint(0, 4)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)} 0{rng.randint(0, 9)}:14</td><td>{rng.randint(1, 900)}K</td></tr>\n'
                       for name in (f"{self.slug(rng)}-{rng.randint(0, 4)}.{rng.randint(0, 20)}.{rng.choice(['tgz', 'zip', 'ps.gz', 'deb'])}" for _ in range(rng.randint(4, 20))))
        return page(f'<html><head><title>Index of {path}</title></head><body><h1>Index of {path}</h1><table><tr><th></th><th>Name</th><th>Last modified</th><th>Size</th></tr>\n{rows}</table>\n<address>Apache/2.4.62 Server at {self.host} Port 80</address></body></html>')


class PlainText(Fifth):
    """A text file: a list of questions and answers, or a log of changes."""

    links, paths = 3, ("/{w}/faq.txt", "/doc/{w}.txt", "/pub/README.{w}")

    def article(self, path, request, theme=None):
        rng = self.rng("plain", path)
        text = "\n\n".join(f"{number}. {self.language.sentence(rng, self.subject, self.names)}\n   {self.language.sentence(rng, self.subject, self.names)}" for number in range(1, rng.randint(4, 30)))
        return 200, {"Content-Type": "text/plain; charset=utf-8"}, f"{self.name}\n\n{text}\n".encode()


class Agenda(Fifth):
    """A list of dated items, others each year, on the same subject."""

    truth, links, paths = "changed", 3, ("/events.html", "/agenda/", "/press/releases.php?page={k}", "/{w}/dates.htm")

    def now(self, path, request, year=2026):
        rng = self.rng("agenda", path, year)
        rows = "".join(f"<li>{day(rng, year)} <a href='/{number}'>{self.language.title(rng, self.subject, self.names)}</a>, {self.language.coin(rng)}</li>" for number in range(rng.randint(6, 14)))
        return framed(self, self.name, f"<ul>{rows}</ul>", request)

    def then(self, path, year):
        return self.now(path, self.rng("then", year), year)


class Grown(Fifth):
    """The page of a scientist, whose list of works goes on."""

    truth, links, paths = "changed", 3, ("/~{w}/", "/people/{w}/publications.html", "/staff/{w}.html")

    def now(self, path, request, year=2026):
        rng = self.rng("works", path)
        person = f"{self.language.coin(rng)} {self.language.coin(rng)}"
        works = [f"<li>{person}, {self.language.coin(rng)}: {self.language.title(rng, self.subject, self.names)}. {self.language.coin(rng)} {rng.randint(1, 60)}, {published}</li>"
                 for published in range(1990, 2026) for _ in range(rng.randint(0, 2))]
        shown = [work for work in works if int(work[-9:-5]) <= year]
        about = " ".join(sentences(self, rng, 3))
        return framed(self, person, f"<p>{about}</p><ul>{''.join(reversed(shown))}</ul>", request, layout_campus)

    def then(self, path, year):
        return self.now(path, self.rng("then", year), year)


class Desk(Fifth):
    """The page of a section of a paper, with what is new."""

    truth, links, paths, most_links = "changed", 3, ("/{w}/", "/section/{w}.html", "/latest/"), 2

    def now(self, path, request):
        body = "".join(f"<h2><a href='{place}'>{text}</a></h2><p>{self.language.sentence(request, self.subject, self.names)}</p>" for text, place in headlines(self, request, 10))
        return framed(self, f"{path.strip('/').split('/')[0].capitalize()} - {self.name}", body, request, layout_paper)

    def then(self, path, year):
        return self.now(path, self.rng("then", year))


class SmallAds(Fifth):
    """Small advertisements of a club or a magazine: things of its subject that members sell and seek."""

    truth, links, languages, paths = "changed", 3, WESTERN + ("cs", "da"), ("/smallads/", "/market.php?page={k}", "/{w}/exchange.html")
    texts = {"en": ("For sale", "Wanted", "make me an offer"), "de": ("Zu verkaufen", "Gesucht", "Preis Verhandlungssache"), "fr": ("À vendre", "Recherche", "faire offre"),
             "es": ("En venta", "Se busca", "escuchamos ofertas"), "cs": ("Prodám", "Koupím", "cena dohodou"), "da": ("Til salg", "Søges", "giv et bud")}

    def now(self, path, request, year=2026):
        rng, (sale, wanted, offer) = self.rng("ads", path, year), self.texts[self.language.code]
        rows = "".join(f"<dt>{rng.choice([sale, sale, wanted])}: {rng.choice(self.language.subjects[self.subject])}</dt><dd>{self.language.sentence(rng, self.subject, self.names)} {rng.choice([str(rng.randint(10, 900)) + ',-', offer])}. {self.language.coin(rng)}</dd>" for _ in range(rng.randint(5, 11)))
        return framed(self, f"{sale} / {wanted} - {self.name}", f"<dl>{rows}</dl>", request)

    def then(self, path, year):
        return self.now(path, self.rng("then", year), year)


class Entrance(Fifth):
    """The front page, cited as such; missing paths are 404, lead to it, show it, or get an apology with status 200."""

    truth, links, paths, most_links = "living", 6, ("/", "/", "/index.html", "/index.php"), 1

    def now(self, path, request):
        return self.front(request)

    def missing(self, path, request):
        way = self.rng("missing").choice(["404", "404", "lead", "show", "apology"])
        if way == "apology":
            return Apology.missing(self, path, request)
        return {"404": lambda: hard_404(self, path, request), "lead": lambda: moved("/"), "show": lambda: self.front(request)}[way]()

    def then(self, path, year):
        rng = self.rng("front")
        return framed(self, self.name, f"<p>{' '.join(sentences(self, rng, 4))}</p><p>{' '.join(sentences(self, self.rng('front', year), 5))}</p>", self.rng("then", year), self.old_theme)


class Letter(Fifth):
    """A letter in the archive of a list, as programs of the nineties made them."""

    links, paths = 3, ("/hypermail/{w}/0{k}.html", "/lists/{w}/archive/msg{k}.html", "/mail/{y}/{k}.html")

    def article(self, path, request, theme=None):
        rng, title = self.rng("letter", path), self.text(path)[0]
        lines = "\n".join(f"{rng.choice(['', '', '&gt; ', '&gt;&gt; '])}{line}" for line in sentences(self, rng, rng.randint(4, 16)))
        person, other = self.language.coin(rng), self.language.coin(rng)
        return page(f"""<!-- received="Wed Mar {rng.randint(1, 28)} 11:02:19 2000" --><HTML><HEAD><TITLE>{self.name} archive: {title}</TITLE></HEAD><BODY><H1>{title}</H1>
<B>{person}</B> (<I>{self.slug(rng)}@{self.host}</I>)<BR><UL><LI><B>Next message:</B> <A HREF="n.html">{other}: "Re: {title}"</A><LI><B>Messages sorted by:</B> <A HREF="date.html">[ date ]</A><A
HREF="thread.html">[ thread ]</A></UL><HR><PRE>{lines}</PRE><HR></BODY></HTML>""")


class Topic(Fifth):
    """A topic of a modern forum, which the server draws for who runs no script."""

    links, paths = 3, ("/t/{w}-{w}/{k}", "/questions/{k}/{w}-{w}", "/d/{k}-{w}")

    def article(self, path, request, theme=None):
        rng, title = self.rng("topic", path), self.text(path)[0]
        posts = "".join(f"<div itemscope itemtype='http://schema.org/Comment'><span class='creator'>{rng.choice(self.names).lower()}{rng.randint(1, 99)}</span><time>200{rng.randint(0, 4)}-0{rng.randint(1, 9)}</time>"
                        f"<div class='post'><p>{self.language.paragraph(rng, self.subject, self.names, 1, 5)}</p></div>{rng.randint(0, 9)} &#9829;</div>" for _ in range(rng.randint(2, 7)))
        return page(f"""<!DOCTYPE html><html lang="{self.language.code}" class="desktop-view"><head><meta charset="utf-8"><title>{title} - {self.name}</title><meta name="generator" content="Discourse 3.2.0">
</head><body class="crawler"><header><a href="/">{self.name}</a></header><div id="topic-title"><h1>{title}</h1></div>{posts}<div class="suggested">{anchors(headlines(self, request, 5), "{}<br>")}</div></body></html>""")

    def missing(self, path, request):
        title, text = say(self, "lost").split("|")
        return page(f"<!DOCTYPE html><html><head><title>{self.name}</title></head><body class='crawler'><header><a href='/'>{self.name}</a></header><h1>{title}</h1><p>{text}</p>{anchors(headlines(self, request, 10))}</body></html>", 404)


class Entry(Fifth):
    """An entry of a catalogue: a few words in a large frame. What has no entry has status 404 in the same frame."""

    links, paths = 3, ("/catalogue/{k}", "/object.aspx?oid={k}", "/db/{w}/{k}.html")

    def article(self, path, request, theme=None):
        rng = self.rng("entry", path)
        rows = "".join(f"<tr><th>{key.capitalize()}</th><td>{self.language.coin(rng)} {rng.randint(1, 900)}</td></tr>" for key in rng.sample(self.language.subjects[self.subject], 4))
        return framed(self, self.text(path)[0], f"<table>{rows}</table><p>{self.language.sentence(rng, self.subject, self.names)}</p>", request, layout_paper)

    def missing(self, path, request):
        title, text = say(self, "lost").split("|")
        return page(layout_paper(self, title, f"<p>{text}</p>", request), 404)


class Agree(Fifth):
    """A wall that asks for consent before any page is shown, in its place or at an address of its own."""

    truth, links, languages = "living", 4, WESTERN

    def wall(self, request):
        title, text, yes, more = say(self, "consent").format(n=self.rng("partners").randint(40, 900)).split("|")
        return page(f"""<!DOCTYPE html><html lang="{self.language.code}"><head><meta charset="utf-8"><title>{title} | {self.name}</title></head><body class="cmp"><div role="dialog"><img src="/logo.svg" alt="{self.name}">
<h1>{title}</h1><p>{text}</p><form method="post"><input type="hidden" name="csrfToken" value="{request.getrandbits(60):x}"><button name="agree" value="agree">{yes}</button><button name="manage">{more}</button></form></div></body></html>""")

    def now(self, path, request):
        if self.rng("way").random() < 0.5 and not path.startswith("/collectConsent"):
            return moved(f"/collectConsent?sessionId=3_cc-{request.getrandbits(60):x}&next={urllib.parse.quote(path, safe='')}")
        return self.wall(request)

    def missing(self, path, request):
        return self.now(path, request)

    def front(self, request):
        return self.now("/", request)


class Guard(Fifth):
    """A wall against programs, with status 200, before all pages."""

    truth, links, languages = "living", 3, WESTERN

    def now(self, path, request):
        title, text = say(self, "wall").split("|")
        return page(f"""<!DOCTYPE html><html lang="{self.language.code}"><head><meta charset="utf-8"><title>{title}</title><meta http-equiv="refresh" content="5"></head><body><div class="main-wrapper"><h1>{self.host}</h1><h2>{title}</h2>
<p>{text}</p><p>Ray ID: {request.getrandbits(64):016x}</p></div><script src="/cdn-cgi/challenge-platform/h/b/orchestrate/jsch/v1?ray={request.getrandbits(64):016x}"></script></body></html>""")

    def missing(self, path, request):
        return self.now(path, request)

    def front(self, request):
        return self.now("/", request)


class Upkeep(Fifth):
    """Maintenance until a day and an hour, said under each address with status 200."""

    truth, links, languages = "living", 3, WESTERN

    def now(self, path, request):
        title, text = say(self, "maintenance").format(day=f"{self.rng('until').randint(1, 3)}.12.2026", hour=self.rng("until").randint(5, 9)).split("|")
        return page(f"<!DOCTYPE html><html lang='{self.language.code}'><head><meta charset='utf-8'><title>{title}</title></head><body><h1>{self.name}</h1><h2>{title}</h2><p>{text}</p></body></html>")

    def missing(self, path, request):
        return self.now(path, request)

    def front(self, request):
        return self.now("/", request)


class Closed(SignInGone):
    """A site that is for its members alone: all of it leads to the form, the front page too."""

    truth, links, alive_share = "living", 3, 0.0

    def front(self, request):
        return self.missing("/", request)


class Metered(Fifth):
    """The first lines of an article, for who has not paid."""

    truth, links, languages = "living", 3, USUAL

    def now(self, path, request):
        title, body = self.text(path)
        return framed(self, title, f"<p>{body[3:280].split('</p>')[0]} …</p><div class='barrier'>{say(self, 'paywall')}</div>", request, layout_paper)


class SpaLives(Spa):
    """An application whose server puts title and summary of the page that was asked for into its frame, and whose script draws it."""

    truth, links = "living", 3

    def now(self, path, request):
        title, body = self.text(path)
        summary = body[3:160].split("<")[0]
        return self.shell(request, f'<title>{title} | {self.name}</title><meta property="og:title" content="{title}"><meta name="description" content="{summary}">')


class Stock(Fifth):
    """A thing that a shop describes still and has sold out."""

    links, paths = 3, ("/item/{w}-{k}", "/store/{w}.html", "/p{k}")

    def now(self, path, request):
        title, body = self.text(path)
        return framed(self, title, f'<p class="out">{say(self, "soldout")}</p>{body}<div>{anchors(headlines(self, request, 4))}</div>', request)


class Frozen(Fifth):
    """A site that is closed to what is new, and says so above the text of old."""

    links = 3

    def now(self, path, request):
        title, body = self.text(path)
        return framed(self, title, f"<div class='banner'>{say(self, 'frozen').format(y=self.turned)}</div>{body}", request, self.theme)


class Rewritten(Fifth):
    """A chapter of documentation for a version of today, where the address of old leads."""

    truth, links, languages, paths = "changed", 3, ("en", "en", "de", "fr"), ("/docs/{w}.html", "/manual/{w}/{w}.html")

    def now(self, path, request):
        return moved(f"/docs/latest/{path.rsplit('/', 1)[1].removesuffix('.html')}/", 301)

    def missing(self, path, request):
        for old in sorted(self.truths):
            if self.now(old, request)[1]["Location"] == path:
                title, body = self.text(old)
                rng = self.rng("rewritten", old)
                first = body.split("</p>")[0] + "</p>"
                return framed(self, title, first + "".join(f"<h2>{self.language.title(rng, self.subject, self.names)}</h2><p>{self.language.paragraph(rng, self.subject, self.names)}</p>" for _ in range(4)), request, layout_static)
        return hard_404(self, path, request)

    def then(self, path, year):
        return self.article(path, self.rng("then", year), layout_nineties)


class Catalogue(Fifth):
    """A directory of sites by category, such as those that people kept before there were good machines for searching."""

    links, languages, paths = 3, ("en", "de", "fr"), ("/links.html", "/directory/{w}/", "/{w}/weblinks.htm")
    words = {"en": "Travel|Insurance|Cars|Computers|Health|Shopping|Hotels|Music|Education", "de": "Reisen|Versicherung|Autos|Computer|Gesundheit|Einkaufen|Hotels|Musik",
             "fr": "Voyages|Assurances|Voitures|Ordinateurs|Santé|Achats|Hôtels|Musique"}

    def text(self, path):
        rng = self.rng("text", path)
        body = "".join(f"<h3>{word}</h3><ul>" + "".join(f"<li><a href='http://www.{self.slug(rng)}.com/'>{self.language.coin(rng)}</a> - {self.language.sentence(rng, self.subject, self.names)}</li>" for _ in range(rng.randint(2, 5))) + "</ul>"
                       for word in rng.sample(self.words[self.language.code].split("|"), 5))
        return f"{self.name}: {self.language.coin(rng)}", body


class ByApology(Apology):
    """Pages that are there, on sites that apologise for the others with status 200."""

    truth, links, alive_share = "as_cited", 3, 1.0


KINDS = [kind for kind in list(globals().values())
         if isinstance(kind, type) and issubclass(kind, Fifth) and kind.links and kind not in (Fifth, Parked, Newcomer, Owner, Market)]
# Hosts that redirects lead to.
SERVICES = {"www.godaddy.com": Market, "sedo.com": Market}
