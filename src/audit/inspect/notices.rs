//! Words by which pages say that they are not what was asked for. Only computes.

use super::page::{Page, spaced};

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

/// Phrases by which pages say that nothing was found. They count beside the page of a path that
/// cannot exist.
const NOT_FOUND_PHRASES: [&str; 40] = [
    "not found",
    "can t find",
    "cannot find",
    "could not find",
    "couldn t find",
    "cannot be found",
    "can t be found",
    "could not be found",
    "couldn t be found",
    "no longer exists",
    "no longer exist",
    "no longer available",
    "does not exist",
    "doesn t exist",
    "has been moved or",
    "has moved or",
    "has been removed",
    "nothing here",
    "error 404",
    "404 error",
    "nicht gefunden",
    "existiert nicht",
    "existiert leider nicht",
    "nicht mehr verfügbar",
    "introuvable",
    "n existe pas",
    "n existe plus",
    "pas été trouvée",
    "no encontrada",
    "no existe",
    "non trovata",
    "non esiste",
    "não encontrada",
    "niet gevonden",
    "bestaat niet",
    "hittades inte",
    "nie istnieje",
    "не найдена",
    "不存在",
    "見つかりません",
];

/// Returns `true` if a page says that nothing was found.
pub(super) fn says_not_found(page: &Page) -> bool {
    let text = spaced(&format!("{}\n{}", page.title, page.text));
    NOT_FOUND_PHRASES
        .iter()
        .any(|phrase| text.contains(&spaced(phrase)))
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
}
