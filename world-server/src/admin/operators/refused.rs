//! How a request of an operator is refused: a status and a sentence, as JSON.

use ambit_lobby::OperatorProblem;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value as Json, json};

/// Characters of a wrong query that its refusal repeats.
pub(super) const SAID_CHARS: usize = 60;

/// What goes wrong with a request.
pub(super) struct Refused {
    pub(super) status: StatusCode,
    /// What `error` says.
    pub(super) problem: String,
    /// For `retry-after`: seconds.
    pub(super) pause_s: Option<u64>,
}

impl Refused {
    pub(super) fn new(status: StatusCode, problem: impl Into<String>) -> Self {
        Self { status, problem: problem.into(), pause_s: None }
    }
}

impl From<OperatorProblem> for Refused {
    fn from(problem: OperatorProblem) -> Self {
        let status = match problem {
            OperatorProblem::BadText(_) => StatusCode::BAD_REQUEST,
            OperatorProblem::NoSuchPlayer(_)
            | OperatorProblem::NoSuchRoom(_)
            | OperatorProblem::NotRunning(_)
            | OperatorProblem::NoSuchHost(_)
            | OperatorProblem::NoEndPlanned
            | OperatorProblem::NotMuted(_) => StatusCode::NOT_FOUND,
            OperatorProblem::TooManyQuestions => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, problem.to_string())
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Self { status, problem, pause_s } = self;
        let mut response = respond(status, &json!({ "error": problem }));
        if status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        if let Some(seconds) = pause_s {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

pub(super) fn respond(status: StatusCode, json: &Json) -> Response {
    let content_type = [(header::CONTENT_TYPE, "application/json")];
    (status, content_type, format!("{json}\n")).into_response()
}
