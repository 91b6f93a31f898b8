//! The page for players, and the client for pages of others. Their files are a part of this
//! program, so a server needs neither Node.js nor a network to serve them; an operator may give a
//! folder with another page instead.
//!
//! `client-core/web/build` makes the files, compressed. They are served as they are, whatever a
//! client accepts: each browser that has WebTransport accepts gzip. A browser asks each time
//! whether its copy is the newest one, so it gets the page of a new server at once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ambit_room::logic::registry::Registry;
use anyhow::Context as _;
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use ring::digest::{SHA256, digest};

use super::text_keys;

const INDEX: &str = "index.html";
/// Files of the client for other pages begin so; they are served in the folder [`CLIENT_FOLDER`].
const CLIENT_PREFIX: &str = "client-";
const CLIENT_FOLDER: &str = "/client/";
const TEXTS: &str = "texts/";
/// Of a file of texts: players download it. The one that comes with the page has 21,000.
const MAX_TEXTS_BYTES: u64 = 1 << 20;
/// A warning names this many keys.
const MAX_NAMED_KEYS: usize = 5;

/// The files of a page.
#[derive(Clone, Debug)]
pub(crate) struct Page(Vec<PageFile>);

/// A file of the page.
#[derive(Clone, Debug)]
struct PageFile {
    name: String,
    content_type: &'static str,
    content: Bytes,
    /// By gzip.
    is_compressed: bool,
    tag: String,
}

macro_rules! contained {
    ($($name:literal),*) => {
        [$((
            $name,
            include_bytes!(concat!("../../bundle/", $name, ".gz")).as_slice(),
        )),*]
    };
}

/// All files of the page in this program; a test compares the list with the folder.
const CONTAINED: [(&str, &[u8]); 28] = contained![
    "index.html",
    "style.css",
    "page.js",
    "icon.svg",
    "ambit.wasm",
    "ambit-worker.js",
    "ambit-glue.js",
    "ambit-replay.js",
    "ambit-cubes-physics.wasm",
    "client-ambit.js",
    "client-bad_line.d.ts",
    "client-client.d.ts",
    "client-connect.d.ts",
    "client-connection.d.ts",
    "client-device_account.d.ts",
    "client-errors.d.ts",
    "client-events.d.ts",
    "client-frame.d.ts",
    "client-game.d.ts",
    "client-index.d.ts",
    "client-line_shaper.d.ts",
    "client-picture.d.ts",
    "client-presentation.d.ts",
    "client-queue.d.ts",
    "client-room.d.ts",
    "client-rules.d.ts",
    "client-schema.d.ts",
    "client-stats.d.ts"
];

/// The files of the page in this program, compressed by gzip: their names, without `.gz`, and what
/// is in them.
pub fn page_files() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    CONTAINED.into_iter()
}

impl Page {
    /// The page in a folder, or that in this program.
    pub(crate) fn load(folder: Option<&Path>) -> anyhow::Result<Self> {
        folder.map_or_else(|| Ok(Self::contained()), Self::read)
    }

    fn contained() -> Self {
        let files = CONTAINED.map(|(name, compressed)| {
            let content_type = content_type(name).expect("a listed kind of file");
            PageFile::new(name.to_owned(), content_type, Bytes::from_static(compressed), true)
        });
        Self(files.into())
    }

    /// Reads the page in a folder: its files, each with `.gz` behind its name.
    fn read(folder: &Path) -> anyhow::Result<Self> {
        let shown = folder.display();
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).with_context(|| shown.to_string())? {
            let path = entry.with_context(|| shown.to_string())?.path();
            let name = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".gz"));
            if let Some(name) = name
                && let Some(content_type) = content_type(name)
            {
                let compressed = fs::read(&path).with_context(|| path.display().to_string())?;
                files.push(PageFile::new(name.to_owned(), content_type, compressed.into(), true));
            }
        }
        anyhow::ensure!(
            files.iter().any(|file| file.name == INDEX),
            "{shown} has no `{INDEX}.gz`; expected the files of a page, as the subcommand `page` \
             makes them"
        );
        // A page of one's own may use the client, whether it was built with it or not.
        for file in Self::contained().0 {
            if file.is_of_client() && files.iter().all(|own| own.name != file.name) {
                files.push(file);
            }
        }
        Ok(Self(files))
    }

    /// With the texts of a folder: each file `de.json` in it has texts in a language, by their
    /// keys, and is served as `/texts/de.json`.
    pub(crate) fn with_texts(
        mut self,
        folder: Option<&Path>,
        registry: &Registry,
    ) -> anyhow::Result<Self> {
        let Some(folder) = folder else { return Ok(self) };
        let shown = folder.display();
        let before = self.0.len();
        for entry in fs::read_dir(folder).with_context(|| shown.to_string())? {
            let path = entry.with_context(|| shown.to_string())?.path();
            let name = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json"));
            let Some(name) = name else { continue };
            let is_language = name.len() == 2 && name.bytes().all(|it| it.is_ascii_lowercase());
            let shown = path.display();
            anyhow::ensure!(
                is_language,
                "{shown} is named after no language; expected two letters, such as `de.json`"
            );
            let bytes = fs::metadata(&path).with_context(|| shown.to_string())?.len();
            anyhow::ensure!(
                bytes <= MAX_TEXTS_BYTES,
                "{shown} has {bytes} bytes; at most {MAX_TEXTS_BYTES} are allowed"
            );
            let content = fs::read(&path).with_context(|| shown.to_string())?;
            let texts = serde_json::from_slice::<BTreeMap<String, String>>(&content).with_context(
                || {
                    format!(
                        "{shown} has no texts by their keys; expected JSON such as \
                     {{\"page.rooms\": \"Räume\"}}"
                    )
                },
            )?;
            let unknown = text_keys::unknown(texts.keys(), registry);
            if !unknown.is_empty() {
                let first = &unknown[..unknown.len().min(MAX_NAMED_KEYS)];
                let count = unknown.len();
                tracing::warn!("{shown}: no text of a game here has these {count} keys: {first:?}");
            }
            let name = format!("{TEXTS}{name}.json");
            self.0.push(PageFile::new(name, "application/json", content.into(), false));
        }
        anyhow::ensure!(
            self.0.len() > before,
            "{shown} has no texts; expected files of languages, such as `de.json`"
        );
        Ok(self)
    }

    /// The page at `/`, its files, and the client at `/client/`.
    pub(super) fn routes<S: Clone + Send + Sync + 'static>(self) -> Router<S> {
        let mut router = Router::new();
        for file in self.0 {
            for path in file.paths() {
                let file = file.clone();
                router =
                    router.route(&path, get(async move |headers: HeaderMap| file.answer(&headers)));
            }
        }
        router
    }
}

fn content_type(name: &str) -> Option<&'static str> {
    Some(match name.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        "ts" => "text/plain; charset=utf-8",
        "wasm" => "application/wasm",
        _ => return None,
    })
}

fn entity_tag(content: &[u8]) -> String {
    let hash = digest(&SHA256, content);
    let first: u64 = u64::from_be_bytes(*hash.as_ref().first_chunk().expect("32 bytes"));
    format!("\"{first:016x}\"")
}

impl PageFile {
    fn new(name: String, content_type: &'static str, content: Bytes, is_compressed: bool) -> Self {
        let tag = entity_tag(&content);
        Self { name, content_type, content, is_compressed, tag }
    }

    fn is_of_client(&self) -> bool {
        self.name.starts_with(CLIENT_PREFIX)
            || ["ambit-worker.js", "ambit-glue.js"].contains(&&*self.name)
            || self.name.rsplit_once('.').unzip().1 == Some("wasm")
    }

    /// The client looks for its modules beside itself.
    fn paths(&self) -> Vec<String> {
        let name = &*self.name;
        if name == INDEX {
            return vec!["/".to_owned()];
        }
        match name.strip_prefix(CLIENT_PREFIX) {
            Some(name) => vec![format!("{CLIENT_FOLDER}{name}")],
            None if self.is_of_client() => {
                vec![format!("/{name}"), format!("{CLIENT_FOLDER}{name}")]
            }
            None => vec![format!("/{name}")],
        }
    }

    fn answer(&self, request: &HeaderMap) -> Response {
        // Pages of other origins may use the client: it is no secret.
        let cached = [
            (header::ETAG, &*self.tag),
            (header::CACHE_CONTROL, "no-cache"),
            (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        ];
        if knows(request, &self.tag) {
            return (StatusCode::NOT_MODIFIED, cached).into_response();
        }
        let encoding = self.is_compressed.then_some([(header::CONTENT_ENCODING, "gzip")]);
        let content_type = [(header::CONTENT_TYPE, self.content_type)];
        (cached, content_type, encoding, self.content.clone()).into_response()
    }
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
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/bundle");
        let entries = fs::read_dir(folder).expect("the bundle's folder");
        let mut there: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .filter_map(|name| Some(name.to_str()?.strip_suffix(".gz")?.to_owned()))
            .collect();
        there.sort();
        let mut listed = CONTAINED.map(|(name, _)| name.to_owned());
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
        let [index, style, ..] = &Page::contained().0[..] else { panic!("several files") };
        let tag = &index.tag;
        assert_ne!(*tag, style.tag);
        let status = |headers| index.answer(&headers).status();
        assert_eq!(status(HeaderMap::new()), 200);
        assert_eq!(status(request("\"other\", \"another\"")), 200);
        for known in [tag.as_str(), &format!("W/{tag}"), &format!("\"old\", {tag}"), "*"] {
            assert_eq!(status(request(known)), 304, "{known}");
        }
        let again = index.answer(&request(tag));
        assert_eq!(again.headers()[header::ETAG], **tag);
        assert!(!again.headers().contains_key(header::CONTENT_ENCODING));
    }

    #[test]
    fn the_client_is_in_a_folder_of_its_own_with_its_modules() {
        let paths: Vec<String> = Page::contained().0.iter().flat_map(PageFile::paths).collect();
        for path in [
            "/",
            "/page.js",
            "/ambit.wasm",
            "/client/ambit.js",
            "/client/index.d.ts",
            "/client/ambit.wasm",
            "/client/ambit-cubes-physics.wasm",
        ] {
            assert_eq!(paths.iter().filter(|known| *known == path).count(), 1, "{path}: {paths:?}");
        }
        assert!(!paths.iter().any(|path| path == "/client/page.js" || path == "/client-ambit.js"));
    }

    #[test]
    fn texts_are_served_by_language_and_others_are_refused() {
        let folder = std::env::temp_dir().join(format!("ambit-texts-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let with = |name: &str, content: &str| {
            fs::write(folder.join(name), content).expect("a file");
            let page = Page::contained().with_texts(Some(&folder), &Registry::default());
            fs::remove_file(folder.join(name)).expect("it was written");
            page.map(|page| page.0.into_iter().flat_map(|file| file.paths()).collect::<Vec<_>>())
                .map_err(|error| error.to_string())
        };
        let paths = with("de.json", "{\"page.rooms\":\"Räume\"}").expect("texts");
        assert!(paths.contains(&"/texts/de.json".to_owned()), "{paths:?}");
        for (name, content, expected) in [
            ("de.json", "{\"page\":{\"rooms\":\"Räume\"}}", "has no texts by their keys"),
            ("de.json", &"x".repeat(1 << 20 | 1), "1048577 bytes; at most 1048576 are allowed"),
            ("deutsch.json", "{}", "is named after no language"),
            ("readme.md", "", "has no texts; expected files of languages"),
        ] {
            let error = with(name, content).expect_err(expected);
            assert!(error.contains(expected), "{error}");
        }
        fs::remove_dir(&folder).expect("it is empty");
    }

    #[test]
    fn a_folder_without_a_page_is_refused_with_what_was_expected() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        let error = Page::read(Path::new(folder)).unwrap_err().to_string();
        assert!(error.contains("world-server/src has no `index.html.gz`"), "{error}");
        let missing = Page::read(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(missing.contains("/nowhere"), "{missing}");
    }

    #[test]
    fn the_page_in_a_folder_is_the_one_that_was_built_there() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/bundle");
        let tags = |page: Page| {
            let mut tags: Vec<_> = page.0.into_iter().map(|file| (file.name, file.tag)).collect();
            tags.sort();
            tags
        };
        assert_eq!(tags(Page::read(Path::new(folder)).unwrap()), tags(Page::contained()));
    }
}
