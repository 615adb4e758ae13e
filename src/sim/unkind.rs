//! Faults that apply to any request to Azure or the API server: refused, silent and late answers, and incomplete lists.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::cluster::Refusal;
use super::faults::{Faults, Occasion, OfRequest, Refused};
use super::http::{Answer, Response};

/// The API that receives the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Azure,
    ApiServer,
}

/// Answers a request with `answer`, and applies faults that refuse, delay, shorten or drop the answer.
pub(crate) fn answered(
    faults: &mut Faults,
    (asked, occasion): (Asked, &Occasion),
    now: Timestamp,
    answer: impl FnOnce(&mut Faults) -> Response,
) -> Response {
    let of_request = faults.of_request(occasion, now);
    if let OfRequest::Refused(refused) = of_request {
        return Response::Answer(refusal(asked, &refused));
    }
    let response = match answer(faults) {
        Response::Answer(answer) => Response::Answer(in_part(faults, occasion, now, answer)),
        response @ (Response::Lost | Response::Silent | Response::Late(..) | Response::Watch(_)) => response,
    };
    match (of_request, response) {
        (OfRequest::Silent, _) => Response::Silent,
        (OfRequest::Late(by), Response::Answer(answer)) => Response::Late(answer, by),
        (_, response) => response,
    }
}

fn refusal(asked: Asked, refused: &Refused) -> Answer {
    let Refused { status, code, message } = refused;
    match asked {
        Asked::Azure => Answer::json(*status, &json!({"error": {"code": code, "message": message}})),
        Asked::ApiServer => {
            let mut object = Refusal::new(*status, "", message.clone()).object();
            object["reason"] = json!(code);
            Answer::json(*status, &object)
        }
    }
}

/// Removes the items that faults hide from a list. Azure has its items in `value`, the API server in `items`.
fn in_part(faults: &mut Faults, occasion: &Occasion, now: Timestamp, mut answer: Answer) -> Answer {
    let is_list =
        answer.status == 200 && occasion.method.as_deref() == Some("GET") && occasion.name.is_none();
    if !is_list || !faults.hides_any() {
        return answer;
    }
    let mut body = answer.value();
    for field in ["value", "items"] {
        let Some(items) = body[field].as_array_mut() else { continue };
        let name = |item: &Value| {
            let name = item["name"].as_str().or_else(|| item["metadata"]["name"].as_str());
            occasion.of_item(name.unwrap_or_default())
        };
        let named: Vec<Occasion> = items.iter().map(name).collect();
        let mut hidden = faults.hides(&named, now).into_iter();
        items.retain(|_| !hidden.next().unwrap_or(false));
    }
    answer.body = body.to_string().into_bytes();
    answer
}
