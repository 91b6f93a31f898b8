//! `/watch`: the page for those who operate the server. It reads and does what `/admin/v1` lets the
//! holder of a key. Its files need neither a build nor a network, and contain no secrets.

/// With non-ASCII characters in it.
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! watch_files {
    ($($name:literal),*) => {
        [
            ("/watch", "text/html; charset=utf-8", include_str!("watch/index.html")),
            ("/watch/style.css", "text/css; charset=utf-8", include_str!("watch/style.css")),
            $((
                concat!("/watch/", $name, ".js"),
                SCRIPT,
                include_str!(concat!("watch/", $name, ".js")),
            )),*
        ]
    };
}

/// The page's files: path, type and text. A test compares the list with the folder.
pub(super) const FILES: [(&str, &str, &str); 25] = watch_files![
    "actions",
    "api",
    "app",
    "bans",
    "charts",
    "details",
    "dialogs",
    "dom",
    "event_rows",
    "event_words",
    "events",
    "format",
    "hosts",
    "icons",
    "map",
    "map_picture",
    "overview",
    "players",
    "rooms",
    "server",
    "store",
    "table",
    "words"
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use ambit_lobby::OPERATOR_EVENTS;

    use super::*;
    use crate::admin::operators::description::ENDPOINTS;

    #[test]
    fn the_server_has_every_file_of_the_page_and_no_line_of_inline_code() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/admin/watch");
        let files = fs::read_dir(folder).expect("the folder can be read");
        let names: BTreeSet<String> = files
            .map(|file| file.expect("a file").file_name().to_string_lossy().into_owned())
            .collect();
        let served = FILES.map(|(path, ..)| path.trim_start_matches("/watch").to_owned());
        let served = served.map(|path| path.strip_prefix('/').unwrap_or("index.html").to_owned());
        assert_eq!(names, BTreeSet::from(served));
        let (_, _, html) = FILES[0];
        // The content security policy allows none.
        assert!(!html.contains("style=") && !html.contains(" on"), "{html}");
        assert_eq!(html.matches("<script").count(), html.matches("<script type=").count());
    }

    #[test]
    fn the_page_has_words_for_all_events_and_all_that_operators_do() {
        let words = include_str!("watch/event_words.js");
        for (event, ..) in OPERATOR_EVENTS {
            assert!(words.contains(&format!("\n  {event}: ")), "{event}");
        }
        for endpoint in ENDPOINTS.iter().filter(|endpoint| endpoint.method != "get") {
            let mut request = format!("{} {}", endpoint.method, endpoint.path);
            if let (Some(open), Some(close)) = (request.find('{'), request.find('}')) {
                request.replace_range(open + 1..close, "");
            }
            assert!(words.contains(&format!("\"{request}\":")), "{request}");
        }
    }
}
