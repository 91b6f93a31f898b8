//! `page`: makes a page for players of one's own games, on which steered avatars move without a
//! wait.
//!
//! It is the page that is in this program. Only its client is compiled once more, to WebAssembly,
//! together with the crate that the server shares with its clients. No copy of Ambit's repository
//! is needed: the client comes from where the crate has `ambit-game` from.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::Value;

use crate::serve::endings::{misused, tell};

const USAGE: &str = "\
usage: page CRATE FOLDER

Makes a page in FOLDER, for `--page FOLDER` of the server: its players steer their avatars without a
wait. CRATE is the folder of the crate that the server shares with its clients: it has a `pub const
STEERING`, and takes `ambit-game` without its default features. Needs the target
wasm32-unknown-unknown, and at the first time some minutes.\n";

const TARGET: &str = "wasm32-unknown-unknown";
/// Both halves of wasm-bindgen need the same version; a test compares it with that of the client.
const BINDGEN_VERSION: &str = "0.2.130";
/// The files of the page that are compiled, and what they are called where they are made.
const OWN_FILES: [(&str, &str); 2] =
    [("ambit.wasm", "ambit_web_game_bg.wasm"), ("ambit-glue.js", "ambit_web_game.js")];

/// Runs the subcommand.
pub(super) fn run(arguments: &[OsString]) -> ExitCode {
    let made = match &arguments[1..] {
        [word] if word == "-h" || word == "--help" => Ok(USAGE.to_owned()),
        [shared, folder] => make(Path::new(shared), Path::new(folder)),
        _ => return misused(USAGE),
    };
    tell("page", made)
}

fn make(shared: &Path, folder: &Path) -> Result<String, String> {
    let manifest = shared.join("Cargo.toml");
    let manifest =
        fs::canonicalize(&manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
    check_target()?;
    let metadata = metadata_of(&manifest)?;
    let shared = SharedCrate::find(&metadata, &manifest)?;
    let module = shared.target.join("ambit-page");
    shared.write_module(&module)?;
    call(
        Command::new("cargo").args(["build", "--release", "--target", TARGET]).current_dir(&module),
    )?;

    let wasm = module.join("target").join(TARGET).join("release/ambit_web_game.wasm");
    let glue = module.join("glue");
    let tool = write_bindgen(&module)?;
    let mut bindgen = Command::new("cargo");
    bindgen.args(["run", "--release", "--manifest-path"]).arg(tool).arg("--");
    call(bindgen.arg(&wasm).arg(&glue))?;

    let failed = |path: &Path, error: &io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    for (name, compressed) in ambit_world_server::page_files() {
        let path = folder.join(format!("{name}.gz"));
        fs::write(&path, compressed).map_err(|error| failed(&path, &error))?;
    }
    for (name, made) in OWN_FILES {
        let path = folder.join(name);
        fs::copy(glue.join(made), &path).map_err(|error| failed(&path, &error))?;
        call(Command::new("gzip").args(["-9", "-n", "-f"]).arg(&path))?;
    }
    let folder = folder.display();
    Ok(format!("The page is in {folder}: start the server with `--page {folder}`.\n"))
}

/// What the page's client is compiled with.
#[derive(Debug, PartialEq)]
struct SharedCrate {
    name: String,
    folder: PathBuf,
    /// Where Ambit's client for browsers is, as a dependency.
    client: String,
    /// The workspace's folder for what is compiled.
    target: PathBuf,
    lock: PathBuf,
}

impl SharedCrate {
    /// From what cargo says about the crate with this manifest.
    fn find(metadata: &Value, manifest: &Path) -> Result<Self, String> {
        let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let own = packages.iter().find(|one| Path::new(&text(&one["manifest_path"])) == manifest);
        let own = own.ok_or_else(|| format!("{} is no package", manifest.display()))?;
        let ambit = packages.iter().find(|one| one["name"] == "ambit-game");
        let ambit = ambit.ok_or_else(|| {
            let name = text(&own["name"]);
            format!("{name} does not depend on `ambit-game`; name the crate that clients share")
        })?;
        // The whole repository is where a crate of it was taken from by git, or from a folder.
        let place = PathBuf::from(text(&ambit["manifest_path"]));
        let beside = place.ancestors().nth(3).map(|root| root.join("client-core/web"));
        let client = match beside.filter(|folder| folder.join("Cargo.toml").is_file()) {
            Some(folder) => format!("path = {:?}", folder.display().to_string()),
            None => format!("version = \"={}\"", text(&ambit["version"])),
        };
        Ok(Self {
            name: text(&own["name"]),
            folder: manifest.parent().unwrap_or(manifest).to_owned(),
            client,
            target: text(&metadata["target_directory"]).into(),
            lock: Path::new(&text(&metadata["workspace_root"])).join("Cargo.lock"),
        })
    }

    fn manifest(&self) -> String {
        let Self { name, folder, client, .. } = self;
        let folder = folder.display().to_string();
        format!(
            "[package]\nname = \"ambit-web-game\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
             [workspace]\n\
             [lib]\ncrate-type = [\"cdylib\"]\n\
             [dependencies]\n\
             ambit-client-web = {{ {client} }}\n\
             game = {{ path = {folder:?}, package = {name:?} }}\n\
             wasm-bindgen = {{ version = \"={BINDGEN_VERSION}\", default-features = false }}\n\
             [profile.release]\nopt-level = \"s\"\nlto = true\ncodegen-units = 1\n\
             panic = \"abort\"\n"
        )
    }

    fn write_module(&self, module: &Path) -> Result<(), String> {
        const CODE: &str = "#[wasm_bindgen::prelude::wasm_bindgen(start)]\npub fn start() {\n    \
                            ambit_client_web::share(game::STEERING);\n}\n";
        let write = || {
            fs::create_dir_all(module.join("src"))?;
            fs::write(module.join("Cargo.toml"), self.manifest())?;
            // The same versions as on the server.
            if self.lock.is_file() {
                fs::copy(&self.lock, module.join("Cargo.lock"))?;
            }
            fs::write(module.join("src/lib.rs"), CODE)
        };
        write().map_err(|error: io::Error| format!("{}: {error}", module.display()))
    }
}

fn metadata_of(manifest: &Path) -> Result<Value, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(manifest);
    serde_json::from_slice(&output(&mut cargo)?).map_err(|error| error.to_string())
}

/// Standard libraries come for each target apart.
fn check_target() -> Result<(), String> {
    let mut rustc = Command::new("rustc");
    let folder = output(rustc.args(["--print", "target-libdir", "--target", TARGET]))?;
    let folder = String::from_utf8_lossy(&folder);
    if Path::new(folder.trim()).is_dir() {
        return Ok(());
    }
    Err(format!("Rust cannot compile for browsers yet: `rustup target add {TARGET}`"))
}

/// Writes a program that does what `wasm-bindgen` does with `--target web`, beside the module. That
/// program itself also has a test runner with a web server, and takes longer to install. Returns
/// its manifest.
fn write_bindgen(module: &Path) -> Result<PathBuf, String> {
    const CODE: &str = "\
fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    wasm_bindgen_cli_support::Bindgen::new()
        .input_path(&arguments[0])
        .web(true)?
        .typescript(false)
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(&arguments[1])?;
    Ok(())
}
";
    let folder = module.join("bindgen");
    let manifest = folder.join("Cargo.toml");
    let text = format!(
        "[package]\nname = \"ambit-bindgen\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [workspace]\n\
         [dependencies]\nwasm-bindgen-cli-support = \"={BINDGEN_VERSION}\"\n\
         [profile.release]\nopt-level = 1\n"
    );
    let write = || {
        fs::create_dir_all(folder.join("src"))?;
        fs::write(&manifest, text)?;
        fs::write(folder.join("src/main.rs"), CODE)
    };
    write().map_err(|error: io::Error| format!("{}: {error}", folder.display()))?;
    Ok(manifest)
}

/// Runs a program; what it says is for the author.
fn call(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name} failed: {status}")),
        Err(error) => Err(format!("{name} cannot be started: {error}")),
    }
}

/// What a program prints.
fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name} cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(format!("{name} failed: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn metadata(ambit: &Path) -> Value {
        json!({
            "packages": [
                {"name": "ships", "manifest_path": "/home/ann/ships/shared/Cargo.toml"},
                {"name": "ambit-game", "version": "0.1.0", "manifest_path": ambit},
            ],
            "target_directory": "/home/ann/ships/target",
            "workspace_root": "/home/ann/ships",
        })
    }

    #[test]
    fn the_client_comes_from_where_the_crate_has_ambit_from() {
        let manifest = Path::new("/home/ann/ships/shared/Cargo.toml");
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let found = SharedCrate::find(&metadata(&here.join("Cargo.toml")), manifest);
        let found = found.expect("a crate");
        assert_eq!(
            (&found.name[..], found.folder.as_path()),
            ("ships", manifest.parent().unwrap())
        );
        let root = here.ancestors().nth(2).expect("the repository");
        let client = root.join("client-core/web");
        assert!(client.join("Cargo.toml").is_file());
        assert!(found.manifest().contains(&format!("{:?}", client.display().to_string())));

        let registry = Path::new("/home/ann/.cargo/registry/src/x/ambit-game-0.1.0/Cargo.toml");
        let found = SharedCrate::find(&metadata(registry), manifest).expect("a crate");
        assert!(found.manifest().contains("ambit-client-web = { version = \"=0.1.0\" }"));
        assert!(found.manifest().contains("package = \"ships\""));
    }

    #[test]
    fn a_crate_without_ambit_is_refused_by_name() {
        let manifest = Path::new("/home/ann/ships/shared/Cargo.toml");
        let mut metadata = metadata(manifest);
        metadata["packages"].as_array_mut().expect("a list").pop();
        let problem = SharedCrate::find(&metadata, manifest).expect_err("no Ambit");
        assert!(problem.contains("ships does not depend on `ambit-game`"), "{problem}");
        let missing = make(Path::new("/nowhere"), Path::new("/nowhere/page")).unwrap_err();
        assert!(missing.contains("/nowhere/Cargo.toml"), "{missing}");
    }

    #[test]
    fn both_halves_of_wasm_bindgen_have_one_version() {
        let manifest = include_str!("../../../../Cargo.toml");
        assert!(manifest.contains(&format!("wasm-bindgen = {{ version = \"={BINDGEN_VERSION}\"")));
    }
}
