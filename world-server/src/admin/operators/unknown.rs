//! What a request gets that is none of [`ENDPOINTS`]: which path or method it was, and what is
//! there instead.

use axum::http::{Method, StatusCode};

use super::description::{AdminEndpoint, ENDPOINTS};
use super::refused::{Refused, SAID_CHARS};

/// Refuses a request for another path, or by another method. `path` is the part below `/admin/v1`.
pub(super) fn refusal(method: &Method, path: &str) -> Refused {
    let said: String = path.chars().take(SAID_CHARS).collect();
    let here: Vec<String> = ENDPOINTS
        .iter()
        .filter(|endpoint| is_at(endpoint, path))
        .map(|endpoint| endpoint.method.to_uppercase())
        .collect();
    if !here.is_empty() {
        let here = here.join(" and ");
        let problem = format!("`/admin/v1{said}` takes {here}, and not {method}");
        return Refused::new(StatusCode::METHOD_NOT_ALLOWED, problem);
    }
    let list = |endpoint: &AdminEndpoint| {
        format!("`{} {}`", endpoint.method.to_uppercase(), endpoint.path)
    };
    let near = ENDPOINTS.iter().filter(|endpoint| first_part(endpoint.path) == first_part(path));
    let near: Vec<String> = near.map(list).collect();
    let instead = if near.is_empty() {
        "`/admin/v1/openapi.json` lists all that there are".to_owned()
    } else {
        format!("below `/admin/v1` there are {}", near.join(", "))
    };
    let problem = format!("there is no `/admin/v1{said}`; {instead}");
    Refused::new(StatusCode::NOT_FOUND, problem)
}

fn is_at(endpoint: &AdminEndpoint, path: &str) -> bool {
    let (known, given) = (endpoint.path.split('/'), path.split('/'));
    known.clone().count() == given.clone().count()
        && known
            .zip(given)
            .all(|(known, given)| known == given || known.starts_with('{') && !given.is_empty())
}

fn first_part(path: &str) -> Option<&str> {
    path.split('/').nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_path_or_method_is_named_with_what_there_is() {
        for (method, path, status, expected) in [
            (Method::POST, "/players", 405, "`/admin/v1/players` takes GET, and not POST"),
            (Method::GET, "/players/12/mute", 405, "mute` takes POST and DELETE, and not GET"),
            (Method::DELETE, "/bans", 405, "takes GET and POST, and not DELETE"),
            (Method::GET, "/playrs", 404, "there is no `/admin/v1/playrs`; `/admin/v1/openapi"),
            (Method::GET, "/hosts/3", 404, "there are `GET /hosts`, `POST /hosts/{host}/drain`"),
            (Method::GET, "/players/", 404, "there are `GET /players`, "),
            (Method::GET, "/", 404, "there is no `/admin/v1/`; `/admin/v1/openapi.json` lists"),
        ] {
            let Refused { status: found, problem, .. } = refusal(&method, path);
            assert_eq!(found.as_u16(), status, "{method} {path}: {problem}");
            assert!(problem.contains(expected), "{method} {path}: {problem}");
        }
        let long = format!("/{}", "x".repeat(10_000));
        assert!(refusal(&Method::GET, &long).problem.len() < 200);
    }
}
