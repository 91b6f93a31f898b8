//! The page for players. Its files are a part of this program, so a server needs neither Node.js
//! nor a network to serve it.
//!
//! `client-core/web/build` makes the files, compressed. They are served as they are, whatever a
//! client accepts: each browser that has WebTransport accepts gzip. A browser asks each time
//! whether its copy is the newest one, so it gets the page of a new server at once.

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use ring::digest::{SHA256, digest};

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const IMAGE: &str = "image/svg+xml";
const WASM: &str = "application/wasm";

/// A file of the page, compressed by gzip.
struct PageFile {
    name: &'static str,
    content_type: &'static str,
    compressed: &'static [u8],
}

macro_rules! page_file {
    ($name:literal, $content_type:ident) => {
        PageFile {
            name: $name,
            content_type: $content_type,
            compressed: include_bytes!(concat!("../../../client-core/web/bundle/", $name, ".gz")),
        }
    };
}

/// All files of the page; a test compares the list with the folder.
const FILES: [PageFile; 6] = [
    page_file!("index.html", HTML),
    page_file!("style.css", STYLE),
    page_file!("page.js", SCRIPT),
    page_file!("icon.svg", IMAGE),
    page_file!("ambit.wasm", WASM),
    page_file!("ambit-cubes-physics.wasm", WASM),
];

/// The page at `/`, and its files.
pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let mut router = Router::new();
    for file in &FILES {
        let tag = entity_tag(file.compressed);
        let path = match file.name {
            "index.html" => "/".to_owned(),
            name => format!("/{name}"),
        };
        let serve = async move |headers: HeaderMap| answer(file, &tag, &headers);
        router = router.route(&path, get(serve));
    }
    router
}

fn entity_tag(content: &[u8]) -> String {
    let hash = digest(&SHA256, content);
    let first: u64 = u64::from_be_bytes(*hash.as_ref().first_chunk().expect("32 bytes"));
    format!("\"{first:016x}\"")
}

fn answer(file: &PageFile, tag: &str, request: &HeaderMap) -> Response {
    let cached = [(header::ETAG, tag), (header::CACHE_CONTROL, "no-cache")];
    if knows(request, tag) {
        return (StatusCode::NOT_MODIFIED, cached).into_response();
    }
    let content = [(header::CONTENT_TYPE, file.content_type), (header::CONTENT_ENCODING, "gzip")];
    (cached, content, Bytes::from_static(file.compressed)).into_response()
}

/// Whether the client has the content with this tag.
fn knows(request: &HeaderMap, tag: &str) -> bool {
    let known = request.get_all(header::IF_NONE_MATCH).iter();
    let mut tags = known.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    tags.any(|known| matches!(known.trim(), known if known == "*" || known.ends_with(tag)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_the_files_of_the_bundle() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../client-core/web/bundle");
        let entries = std::fs::read_dir(folder).expect("the bundle's folder");
        let mut there: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .filter_map(|name| Some(name.to_str()?.strip_suffix(".gz")?.to_owned()))
            .collect();
        there.sort();
        let mut listed = FILES.map(|file| file.name.to_owned());
        listed.sort();
        assert_eq!(there, listed);
    }

    #[test]
    fn a_client_that_has_the_file_does_not_get_it_again() {
        let request = |known: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::IF_NONE_MATCH, known.parse().expect("a value"));
            headers
        };
        let [index, style, ..] = &FILES;
        let tag = entity_tag(index.compressed);
        assert_ne!(tag, entity_tag(style.compressed));
        let status = |headers| answer(index, &tag, &headers).status();
        assert_eq!(status(HeaderMap::new()), 200);
        assert_eq!(status(request("\"other\", \"another\"")), 200);
        for known in [&tag, &format!("W/{tag}"), &format!("\"old\", {tag}"), "*"] {
            assert_eq!(status(request(known)), 304, "{known}");
        }
        let again = answer(index, &tag, &request(&tag));
        assert_eq!(again.headers()[header::ETAG], tag);
        assert!(!again.headers().contains_key(header::CONTENT_ENCODING));
    }
}
