//! Words by which pages say that they are not what was asked for. Only computes.

use super::page::{Page, lines, spaced, words};

/// Titles, or parts of titles between dashes, of pages that only say that there is none. In lower
/// case, without punctuation.
const NOT_FOUND_TITLES: [&str; 61] = [
    "404",
    "404 error",
    "404 error page not found",
    "404 file not found",
    "404 not found",
    "404 page not found",
    "404 seite nicht gefunden",
    "cannot find server",
    "document not found",
    "error 404",
    "error 404 not found",
    "error 404 page not found",
    "erreur 404",
    "errore 404",
    "fehler 404",
    "file not found",
    "http 404",
    "http 404 not found",
    "http error 404",
    "http status 404 not found",
    "not found",
    "object not found",
    "oops page not found",
    "page cannot be found",
    "page does not exist",
    "page doesn t exist",
    "page inexistante",
    "page introuvable",
    "page missing",
    "page no longer available",
    "page no longer exists",
    "page non trouvée",
    "page not available",
    "page not found",
    "page not found 404",
    "page not found error 404",
    "pagina niet gevonden",
    "pagina non trovata",
    "página no encontrada",
    "página não encontrada",
    "seite existiert nicht",
    "seite nicht gefunden",
    "seite nicht vorhanden",
    "siden blev ikke fundet",
    "siden ble ikke funnet",
    "sidan hittades inte",
    "sivua ei löytynyt",
    "strona nie istnieje",
    "strony nie znaleziono",
    "nie znaleziono strony",
    "stránka nenalezena",
    "the page cannot be found",
    "the page you requested was not found",
    "the requested page could not be found",
    "this page does not exist",
    "this page doesn t exist",
    "страница не найдена",
    "ошибка 404",
    "页面不存在",
    "找不到页面",
    "ページが見つかりません",
];

/// Returns the part of a title that says that there is no page.
pub(super) fn not_found_title(title: &str) -> Option<&str> {
    let separators = [
        " - ",
        " | ",
        " \u{2013} ",
        " \u{2014} ",
        ": ",
        " \u{bb} ",
        " \u{b7} ",
    ];
    let mut parts = vec![title];
    for separator in separators {
        parts = parts
            .into_iter()
            .flat_map(|part| part.split(separator))
            .collect();
    }
    parts.into_iter().chain([title]).find(|part| {
        let part = spaced(part);
        NOT_FOUND_TITLES.iter().any(|known| spaced(known) == part)
    })
}

/// Phrases by which pages say that what was asked for is not there, or not any more, by language.
/// One that ends with `-` is the beginning of a word.
///
/// They count beside the page of a path that cannot exist, or alone on a page of a few words.
const GONE: [&[&str]; 17] = [
    &[
        "not found",
        "nothing was found",
        "can t find",
        "cannot find",
        "could not find",
        "couldn t find",
        "unable to find",
        "not be found",
        "cannot be found",
        "cannot be located",
        "can t be found",
        "couldn t be found",
        "not be located",
        "couldn t be located",
        "unable to locate",
        "does not exist",
        "doesn t exist",
        "do not exist",
        "don t exist",
        "no such page",
        "nothing here",
        "is not here",
        "isn t here",
        "no longer here",
        "no longer exist-",
        "no longer available",
        "no longer online",
        "no longer accessible",
        "no longer work-",
        "has moved or",
        "been moved or",
        "has been removed",
        "have been removed",
        "was removed",
        "been deleted",
        "was deleted",
        "been withdrawn",
        "was withdrawn",
        "been taken down",
        "been discontinued",
        "service has closed",
        "service was closed",
        "story expired",
        "article expired",
        "listing expired",
        "error 404",
        "404 error",
        "did not match any",
    ],
    &[
        "nicht gefunden",
        "nicht finden",
        "existiert nicht",
        "existiert leider nicht",
        "existieren nicht",
        "nicht mehr verfügbar",
        "nicht mehr erreichbar",
        "nicht mehr abrufbar",
        "nicht mehr vorhanden",
        "nicht mehr online",
        "nicht mehr zur verfügung",
        "inhalt nicht verfügbar",
        "verschoben oder",
        "gelöscht",
        "wurde entfernt",
        "dienst eingestellt",
        "fehler 404",
        "keine treffer",
        "keine ergebnisse",
        "nichts gefunden",
    ],
    &[
        "introuvable-",
        "n existe pas",
        "n existe plus",
        "n existent plus",
        "pas été trouvé-",
        "pas trouvé-",
        "plus en ligne",
        "plus disponible-",
        "plus accessible-",
        "supprimé-",
        "été retiré-",
        "été déplacé-",
        "erreur 404",
        "aucun résultat",
        "rien trouvé",
    ],
    &[
        "no encontrad-",
        "no existe-",
        "no se encuentra",
        "no se ha encontrado",
        "podido encontrar",
        "no está disponible",
        "ya no está-",
        "sido eliminad-",
        "sido retirad-",
        "noticia no disponible",
        "página no disponible",
        "no produjo resultados",
        "sin resultados",
    ],
    &[
        "non trovat-",
        "non è stata trovata",
        "non esiste",
        "non è più disponibile",
        "stata rimossa",
        "stato rimosso",
        "inesistente",
        "nessun risultato",
    ],
    &[
        "não encontrad-",
        "não foi encontrad-",
        "não existe",
        "não está mais disponível",
        "foi removid-",
        "nada encontrado",
        "nenhum resultado",
    ],
    &[
        "niet gevonden",
        "bestaat niet",
        "niet meer beschikbaar",
        "is verwijderd",
        "niets gevonden",
        "geen resultaten",
    ],
    &[
        "hittades inte",
        "finns inte",
        "tagits bort",
        "inga träffar",
        "inga resultat",
    ],
    &[
        "ikke fundet",
        "findes ikke",
        "ikke funnet",
        "finnes ikke",
        "blev ikke fundet",
    ],
    &[
        "nie istnieje",
        "nie znaleziono",
        "nie została znaleziona",
        "została usunięta",
        "brak wynik-",
    ],
    &["nenalezen-", "neexistuje", "nebyla nalezena"],
    &["ei löytynyt", "ei löydy"],
    &["nem található", "bulunamadı"],
    &[
        "не найден-",
        "не существу-",
        "был удалён",
        "был удален",
        "была удалена",
        "материал удалён",
        "материал удален",
        "страница удалена",
        "снята с публикации",
        "снят с публикации",
        "больше не доступ-",
        "устаревшей ссылке",
        "ошибка 404",
    ],
    &[
        "不存在",
        "找不到",
        "没有找到",
        "沒有找到",
        "未找到",
        "无法找到",
        "已删除",
        "已被删除",
        "已刪除",
        "已失效",
    ],
    &[
        "見つかりません",
        "存在しません",
        "削除され",
        "表示できません",
        "掲載は終了",
        "公開は終了",
        "サービス終了",
        "サービスは終了",
    ],
    &["찾을 수 없-", "존재하지 않-", "삭제되-", "결과가 없습니다"],
];

/// Returns the phrase by which a text says that what was asked for is not there. The text has the
/// form of [`spaced`].
pub(super) fn gone_phrase(text: &str) -> Option<&'static str> {
    first_phrase(&GONE, text)
}

fn first_phrase(table: &[&[&'static str]], text: &str) -> Option<&'static str> {
    let phrases = table.iter().flat_map(|phrases| phrases.iter());
    phrases
        .copied()
        .find(|phrase| has_phrase(text, phrase))
        .map(|phrase| phrase.trim_end_matches('-'))
}

/// Words by which the first lines of a notice say that something has ended or cannot be had, by
/// language; one that ends with `-` is the beginning of a word. Each is also a word of ordinary
/// texts: they count only where a snapshot had a text, which has gone.
const ENDED: [&[&str]; 21] = [
    &[
        "no longer",
        "expired",
        "has ended",
        "have ended",
        "has closed",
        "is closed",
        "was closed",
        "been closed",
        "job closed",
        "been filled",
        "unavailable",
        "not available",
        "discontinued",
        "withdrawn",
        "deactivated",
        "suspended",
        "terminated",
        "cancelled",
        "canceled",
        "taken down",
        "shut down",
        "no such",
        "unknown user",
        "invalid",
        "no record",
        "no results",
        "no matches",
        "no match",
        "no entry",
        "no article",
        "no document",
        "no posts",
        "not valid",
        "no hits",
        "error",
        "oops",
        "sorry",
    ],
    &[
        "abgelaufen",
        "fehler",
        "beendet",
        "nicht verfügbar",
        "deaktiviert",
        "gesperrt",
        "geschlossen",
        "eingestellt",
        "entfernt",
        "gelöscht",
        "bereits besetzt",
        "ausverkauft",
        "ungültig-",
        "unbekannte-",
        "kein datensatz",
        "kein eintrag",
        "kein artikel",
        "kein ergebnis",
        "keine einträge",
        "aufgelöst",
    ],
    &[
        "expiré-",
        "erreur",
        "terminée-",
        "fermé-",
        "désactivé-",
        "retiré-",
        "pourvu-",
        "indisponible-",
        "clôturé-",
        "inconnu-",
        "invalide-",
        "épuisé-",
        "désolé-",
    ],
    &[
        "caducad-",
        "caducó",
        "finalizad-",
        "finalizó",
        "expirad-",
        "expiró",
        "no disponible-",
        "cerrad-",
        "desactivad-",
        "eliminad-",
        "retirad-",
        "borrad-",
        "vencid-",
        "inválid-",
        "desconocid-",
        "agotad-",
        "lo sentimos",
    ],
    &[
        "scadut-",
        "errore",
        "terminat-",
        "non è disponibile",
        "chius-",
        "disattivat-",
        "rimoss-",
        "eliminat-",
        "cancellat-",
        "non disponibil-",
        "sconosciut-",
        "esaurit-",
        "spiacent-",
    ],
    &[
        "encerrad-",
        "erro",
        "expirad-",
        "expirou",
        "não está mais",
        "não estão mais",
        "não está disponível",
        "indisponível",
        "removid-",
        "excluíd-",
        "desativad-",
        "apagad-",
        "inexistente-",
        "inválid-",
        "fora do ar",
        "esgotad-",
        "desculpe",
    ],
    &[
        "verlopen",
        "fout",
        "niet beschikbaar",
        "verwijderd-",
        "opgeheven",
        "vervuld",
        "gesloten",
        "beëindigd",
        "onbekende-",
        "geen gegevens",
        "ongeldig-",
        "uitverkocht",
    ],
    &[
        "finns ej",
        "borttag-",
        "raderad-",
        "raderats",
        "avslutad-",
        "avslutats",
        "utgått",
        "utgången",
        "upphört",
        "stängd-",
        "stängts",
        "ogiltig-",
        "okänd-",
        "inte hitta-",
        "slutsåld-",
    ],
    &[
        "udløbet",
        "utløpt",
        "utgått",
        "fjernet",
        "slettet",
        "lukket",
        "stengt",
        "nedlagt",
        "ukendt-",
        "ukjent-",
        "ugyldig-",
        "ingen resultater",
        "ingen treff",
        "udsolgt",
        "utsolgt",
        "desværre",
        "dessverre",
        "beklager",
    ],
    &[
        "nieaktualn-",
        "błąd",
        "brak rekordu",
        "zakończon-",
        "zakończył-",
        "wygasł-",
        "usunięt-",
        "niedostępn-",
        "nieznan-",
        "zamknięt-",
        "nieprawidłow-",
        "wycofan-",
        "wyprzedan-",
        "przepraszamy",
    ],
    &[
        "smazán-",
        "chyba 404",
        "chyba stránk-",
        "došlo k chybě",
        "odstraněn-",
        "ukončen-",
        "vypršel-",
        "není dostupn-",
        "nedostupn-",
        "zrušen-",
        "neplatn-",
        "nelze najít",
        "nepodařilo se najít",
        "vyprodán-",
        "omlouváme se",
        "neexistuj-",
    ],
    &[
        "poistettu",
        "virhe",
        "päättynyt",
        "vanhentunut",
        "suljettu",
        "tuntematon",
        "virheellinen",
        "loppuunmyyty",
        "valitettavasti",
    ],
    &[
        "megszűnt",
        "törölt-",
        "lejárt",
        "nem elérhető",
        "nem létezik",
        "érvénytelen",
        "ismeretlen",
        "sajnos",
        "sajnáljuk",
    ],
    &[
        "nu a fost găsit-",
        "expirat-",
        "șters-",
        "eliminat-",
        "indisponibil-",
        "inexistent-",
    ],
    &[
        "mevcut değil",
        "bulunmuyor",
        "bulunmamaktadır",
        "silindi",
        "silinmiş-",
        "kaldırıl-",
        "sona erdi",
        "sona ermiş-",
        "süresi doldu",
        "geçersiz",
        "üzgünüz",
    ],
    &[
        "удален-",
        "ошибка",
        "помилка",
        "удалён-",
        "снят-",
        "закрыт-",
        "истек-",
        "истёк",
        "недоступн-",
        "нет такой",
        "нет такого",
        "неактуальн-",
        "завершен-",
        "завершён-",
        "неверн-",
        "заблокирован-",
        "распродан-",
        "видален-",
        "закрит-",
        "к сожалению",
        "извините",
    ],
    &[
        "δεν βρέθηκ-",
        "έληξ-",
        "έχει λήξει",
        "διαγράφ-",
        "αφαιρέθηκ-",
        "μη διαθέσιμ-",
        "δυστυχώς",
        "غير موجود-",
        "غير متاح-",
        "لم يتم العثور",
        "حذف-",
        "تم حذف",
        "انتهت",
        "عذرا",
        "لم نجد",
        "یافت نشد",
        "وجود ندارد",
        "حذف شده",
        "לא נמצא-",
        "לא קיימ-",
        "אינו קיים",
        "אינה קיימת",
        "הוסר-",
        "נמחק-",
        "פג תוקף",
        "לא זמין",
    ],
    &[
        "终了",
        "被删除",
        "已删除",
        "已过期",
        "已到期",
        "已失效",
        "已下线",
        "已下架",
        "已关闭",
        "已结束",
        "已停止",
        "已停用",
        "已注销",
        "已撤",
        "走丢",
        "不见了",
        "没有找到",
        "未能找到",
        "无效",
        "不可用",
        "错误",
        "抱歉",
        "已過期",
        "已關閉",
        "已結束",
        "已下架",
        "沒有找到",
        "抱歉",
    ],
    &[
        "終了しました",
        "終了いたしました",
        "終了致しました",
        "閉鎖",
        "無効",
        "期限切れ",
        "廃止",
        "削除",
        "退会",
        "非公開",
        "申し訳",
    ],
    &[
        "종료-",
        "만료-",
        "폐쇄-",
        "삭제-",
        "중단-",
        "탈퇴-",
        "비공개-",
        "죄송-",
    ],
    &[
        "tidak ditemukan",
        "tidak tersedia",
        "telah dihapus",
        "sudah berakhir",
        "không tìm thấy",
        "không tồn tại",
        "đã bị xóa",
        "đã xóa",
        "hết hạn",
        "ไม่พบ",
        "ถูกลบ",
        "หมดอายุ",
        "नहीं मिला",
        "नहीं मिली",
        "मौजूद नहीं",
        "हटा दिया",
    ],
];

/// Returns the words by which a line of a notice says that something has ended or cannot be had. The
/// line has the form of [`spaced`].
pub(super) fn ended_phrase(line: &str) -> Option<&'static str> {
    first_phrase(&ENDED, line)
}

/// Returns the phrase by which a page says that what was asked for is not there.
pub(super) fn says_not_found(page: &Page) -> Option<&'static str> {
    gone_phrase(&spaced(&format!("{}\n{}", page.title, page.text)))
}

/// Returns `true` if two pages say by one phrase that what was asked for is not there.
pub(super) fn say_one_phrase(one: &Page, other: &Page) -> bool {
    let [one, other] = [one, other].map(|page| spaced(&format!("{}\n{}", page.title, page.text)));
    let mut phrases = GONE.iter().flat_map(|phrases| phrases.iter());
    phrases.any(|phrase| has_phrase(&one, phrase) && has_phrase(&other, phrase))
}

/// Returns `true` if a text in the form of [`spaced`] has a phrase; one that ends with `-` is the
/// beginning of a word.
pub(super) fn has_phrase(text: &str, phrase: &str) -> bool {
    let words = spaced(phrase);
    if phrase.ends_with('-') {
        text.contains(words.trim_end())
    } else {
        text.contains(&words)
    }
}

/// A phrase of pages that stand in the place of any other.
struct StandIn {
    phrase: &'static str,
    /// The program or service whose page has it, or the kind of page.
    shown_by: &'static str,
}

const fn stand_in(phrase: &'static str, shown_by: &'static str) -> StandIn {
    StandIn { phrase, shown_by }
}

/// Placeholders of web servers and of providers, for space without a site. Nobody offers the
/// domain there.
const PLACEHOLDERS: [StandIn; 24] = [
    stand_in("welcome to nginx", "nginx, html/index.html"),
    stand_in("welcome to openresty", "OpenResty, html/index.html"),
    stand_in(
        "successfully installed tomcat",
        "Apache Tomcat, ROOT/index.jsp",
    ),
    stand_in("is successfully installed", "nginx and others"),
    stand_in("http server test page", "Red Hat, noindex.html"),
    stand_in("this account has been suspended", "cPanel, suspendedpage"),
    stand_in("account suspended", "cPanel, suspendedpage"),
    stand_in("website is suspended", "cPanel, suspendedpage"),
    stand_in(
        "contact your hosting provider",
        "cPanel, defaultwebpage.cgi",
    ),
    stand_in("default web site page", "cPanel, defaultwebpage.cgi"),
    stand_in("default plesk page", "Plesk, default site"),
    stand_in("plesk has set up", "Plesk, default site"),
    stand_in("web server s default page", "Plesk, default site"),
    stand_in("apache2 default page", "Apache of Debian, index.html"),
    stand_in(
        "apache2 debian default page",
        "Apache of Debian, index.html",
    ),
    stand_in(
        "apache2 ubuntu default page",
        "Apache of Ubuntu, index.html",
    ),
    stand_in(
        "apache http server test page",
        "Apache of Fedora, noindex.html",
    ),
    stand_in(
        "test page for the apache",
        "Apache of Red Hat, noindex.html",
    ),
    stand_in("apache is functioning normally", "cPanel, default page"),
    stand_in("internet information services", "IIS, iisstart.htm"),
    stand_in("iis windows server", "IIS, iisstart.htm"),
    stand_in(
        "congratulations your website is up and running",
        "hosting providers",
    ),
    stand_in("caddy works", "Caddy of Debian, index.html"),
    stand_in("it works", "Apache, htdocs/index.html"),
];

/// Notices of services that stand before a site for a while, or for programs, and pages that ask
/// for consent: what was asked for may be behind them.
const WALLS: [StandIn; 23] = [
    stand_in("just a moment", "Cloudflare"),
    stand_in("checking your browser", "Cloudflare"),
    stand_in("attention required", "Cloudflare"),
    stand_in("verify you are human", "Cloudflare"),
    stand_in("verifying you are human", "Cloudflare"),
    stand_in("human verification", "AWS WAF, captcha action"),
    stand_in("are you a robot", "a question for people"),
    stand_in("not a robot", "a question for people"),
    stand_in("not a bot", "Anubis"),
    stand_in("ddos protection", "DDoS-Guard"),
    stand_in("pardon our interruption", "Imperva"),
    stand_in("request unsuccessful incapsula", "Imperva"),
    stand_in("unusual traffic", "Google, sorry page"),
    stand_in("down for maintenance", "a notice of maintenance"),
    stand_in("under maintenance", "a notice of maintenance"),
    stand_in("scheduled maintenance", "WordPress, wp_maintenance"),
    stand_in("be back soon", "a notice of maintenance"),
    stand_in("wartungsarbeiten", "a notice of maintenance"),
    stand_in("maintenance en cours", "a notice of maintenance"),
    stand_in("en mantenimiento", "a notice of maintenance"),
    stand_in("технические работы", "a notice of maintenance"),
    stand_in("メンテナンス中", "a notice of maintenance"),
    stand_in("before you continue", "a question for consent"),
];

/// Words of questions for consent and of notices of maintenance; one that ends with `-` is the
/// beginning of a word. They count where a host has one page for all paths, also for its front page.
const WORDS_OF_WALLS: [&str; 55] = [
    "cookie-",
    "consent-",
    "your privacy",
    "privacy choices",
    "einwilligung-",
    "zustimmen",
    "privatsphäre",
    "consentement",
    "confidentialité",
    "accepter",
    "consentimiento",
    "privacidad",
    "aceptar",
    "consenso",
    "accettare",
    "accetta",
    "toestemming",
    "akkoord",
    "samtykke",
    "samtycke",
    "godkänn",
    "evästei-",
    "suostumus-",
    "hyväksy",
    "souhlas-",
    "soubor-",
    "zgod-",
    "ciasteczk-",
    "hozzájárul-",
    "sütik-",
    "çerez-",
    "onay",
    "kabul",
    "συγκατάθεση",
    "αποδοχή",
    "соглас-",
    "згод-",
    "同意",
    "maintenance",
    "wartung-",
    "mantenimiento",
    "manutenção",
    "manutenzione",
    "onderhoud",
    "underhåll-",
    "vedligehold-",
    "vedlikehold-",
    "huolto-",
    "údržb-",
    "konserwacj-",
    "karbantartás-",
    "bakım-",
    "συντήρηση",
    "обслужив-",
    "обслуговув-",
];

/// Returns the evidence that a page, which a host shows for all paths, asks for consent or says that
/// the host is under maintenance.
pub(super) fn wall_of_all(page: &Page) -> Option<String> {
    let text = spaced(&format!("{}\n{}", page.title, page.text));
    let word = WORDS_OF_WALLS.iter().find(|word| has_phrase(&text, word))?;
    let word = word.trim_end_matches('-');
    (words(&text).len() <= STAND_IN_WORDS).then(|| {
        format!("one page for all paths, also the front page, that says \"{word}\": it may stand before others")
    })
}

/// Maximum number of words of a page that is a placeholder if it has the phrase of one anywhere: a
/// longer page may be about servers.
const PLACEHOLDER_WORDS: usize = 60;

/// Maximum number of words of a page that stands in the place of others.
const STAND_IN_WORDS: usize = 250;

/// Maximum number of words of a page whose title alone says that it is a placeholder: those of
/// Linux distributions explain their configuration.
const EXPLAINED_WORDS: usize = 800;

/// Returns the evidence that a page is a placeholder of a web server or a provider.
pub(super) fn placeholder(page: &Page) -> Option<String> {
    let count = words(&page.text).len();
    let (title, text) = (spaced(&page.title), spaced(&page.text));
    let heading = lines(&page.text).next().unwrap_or_default();
    let is_shown = |known: &&StandIn| {
        // "It works" is all that its page says.
        let phrase = spaced(known.phrase);
        let is_whole = title == phrase || text == phrase;
        let is_said = known.phrase != "it works" && text.contains(&phrase);
        is_whole && count <= EXPLAINED_WORDS
            || count <= PLACEHOLDER_WORDS && is_said
            || count <= STAND_IN_WORDS && heading.starts_with(&phrase)
            || count <= EXPLAINED_WORDS && title.starts_with(&phrase)
    };
    let StandIn { phrase, shown_by } = PLACEHOLDERS.iter().find(is_shown)?;
    Some(format!(
        "says \"{phrase}\", as the placeholder of a server or provider does ({shown_by})"
    ))
}

/// Returns `true` if a title is one of a page that stands before others.
pub(super) fn wall_title(title: &str) -> bool {
    let title = spaced(title);
    WALLS
        .iter()
        .any(|known| title.starts_with(&spaced(known.phrase)))
}

/// Returns the evidence that a page stands before the one that was asked for, which programs or
/// visitors do not get now.
pub(super) fn wall(page: &Page) -> Option<String> {
    if page.scripts.contains("_cf_chl_opt") {
        return Some("holds the script of a challenge (Cloudflare)".to_owned());
    }
    if STAND_IN_WORDS < words(&page.text).len() {
        return None;
    }
    let text = spaced(&format!("{}\n{}", page.title, page.text));
    let shown = |known: &&StandIn| text.contains(&spaced(known.phrase));
    let StandIn { phrase, shown_by } = WALLS.iter().find(shown)?;
    Some(format!(
        "says \"{phrase}\", as pages do that stand before others ({shown_by})"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_say_that_nothing_was_found_in_many_languages() {
        for title in [
            "404",
            "Error 404 - Page Not Found",
            "Seite nicht gefunden | Verein",
            "页面不存在",
        ] {
            assert!(not_found_title(title).is_some(), "{title}");
        }
        for title in [
            "",
            "Route 404",
            "Not found guilty",
            "Error 404 in the register",
        ] {
            assert_eq!(not_found_title(title), None, "{title}");
        }
    }

    #[test]
    fn a_page_about_servers_is_no_placeholder() {
        let page = |title: &str, text: &str| Page {
            title: title.to_owned(),
            text: text.to_owned(),
            ..Page::default()
        };
        let more = "The harbour has a lamp. ".repeat(20);
        for (title, text) in [
            ("Welcome to nginx!", more.as_str()),
            ("", "Apache2 Debian Default Page"),
            ("Sorry", "Please contact your hosting provider."),
        ] {
            assert!(placeholder(&page(title, text)).is_some(), "{title} {text}");
        }
        let guide = format!("{more}It runs on Internet Information Services.");
        assert_eq!(placeholder(&page("Our server", &guide)), None);
    }
}
