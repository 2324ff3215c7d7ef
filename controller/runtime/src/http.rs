//! Metrics and health, over HTTP.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::gate::Gate;
use crate::metrics::Metrics;

/// What one port answers.
pub enum Site {
    Metrics(Metrics),
    Health(Gate),
}

/// A status and a text.
type Page = (StatusCode, &'static str, String);

impl Site {
    fn page(&self, path: &str) -> Page {
        const PLAIN: &str = "text/plain; charset=utf-8";
        match (self, path) {
            (Self::Metrics(metrics), "/metrics") => match metrics.text() {
                Ok(text) => (StatusCode::OK, "application/openmetrics-text; version=1.0.0; charset=utf-8", text),
                Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, PLAIN, error.to_string()),
            },
            (Self::Health(_), "/healthz") => (StatusCode::OK, PLAIN, "ok".to_owned()),
            (Self::Health(gate), "/readyz") => match gate.missing() {
                missing if missing.is_empty() => (StatusCode::OK, PLAIN, "ok".to_owned()),
                missing => (StatusCode::SERVICE_UNAVAILABLE, PLAIN, format!("not listed yet: {}", missing.join(", "))),
            },
            _ => (StatusCode::NOT_FOUND, PLAIN, "not found".to_owned()),
        }
    }

    fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let (status, kind, text) = match *request.method() {
            Method::GET | Method::HEAD => self.page(request.uri().path()),
            _ => (StatusCode::METHOD_NOT_ALLOWED, "text/plain", "GET only".to_owned()),
        };
        let mut response = Response::new(Full::new(Bytes::from(text)));
        *response.status_mut() = status;
        let kind = http::HeaderValue::from_static(kind);
        response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
        response
    }
}

/// A port of our own on all addresses; 0 takes any free one.
pub async fn listen(port: u16) -> std::io::Result<TcpListener> {
    TcpListener::bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))).await
}

/// Answers on `listener` until the task is dropped.
pub async fn serve(listener: TcpListener, site: Site) {
    let site = Arc::new(site);
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(error = %error, "a connection was not accepted");
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                continue;
            }
        };
        let site = site.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let response = site.answer(&request);
                async move { Ok::<_, Infallible>(response) }
            });
            // Who hangs up in the middle wants no answer.
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Known;
    use crate::kinds::watched;
    use millwright_models::catalog::Gates;

    #[test]
    fn ops_019_readiness_follows_what_is_known_and_liveness_does_not() {
        let kinds = watched(&Gates::default());
        let gate = Gate::new(&kinds);
        let site = Site::Health(gate.clone());
        let status = |path: &str| site.page(path).0;
        assert_eq!((status("/healthz"), status("/readyz")), (StatusCode::OK, StatusCode::SERVICE_UNAVAILABLE));
        kinds.iter().for_each(|k| gate.note(k, Known::Listed));
        assert_eq!(status("/readyz"), StatusCode::OK);
        gate.note(kinds.iter().find(|k| k.kind == "NodePool").unwrap(), Known::Absent);
        let (code, _, text) = site.page("/readyz");
        assert_eq!((code, text.as_str()), (StatusCode::SERVICE_UNAVAILABLE, "not listed yet: NodePool"));
        assert_eq!(status("/metrics"), StatusCode::NOT_FOUND);
        assert_eq!(Site::Metrics(Metrics::default()).page("/debug/pprof/").0, StatusCode::NOT_FOUND);
    }
}
