//! Classification of errors as sent by Azure.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::arm::BuyAs;

fn sync(status: u16, code: &str, message: &str) -> Fault {
    let body = json!({"error": {"code": code, "message": message}});
    Fault::of_answer(Received { status, retry_after_seconds: None }, Some(&body))
}

fn blocks(fault: &Fault, buy_as: BuyAs) -> String {
    let block = fault.blocks(buy_as, Timestamp::UNIX_EPOCH);
    let until = block.until.map_or_else(|| "-".to_owned(), |until| until.to_string()[11..19].to_owned());
    format!("{:?} {until}", block.what)
}

/// Checks the table of codes, for failed requests and operations: what each blocks for on-demand and for spot.
#[test]
fn each_code_blocks_what_the_table_says() {
    let quota = "Operation could not be completed as it results in exceeding approved";
    let cases = [
        (
            409,
            "OperationNotAllowed",
            format!("{quota} standardDSv5Family Cores quota. Current Limit: 10, Current Usage: 8"),
        ),
        (
            409,
            "OperationNotAllowed",
            format!("{quota} standardNCFamily Cores quota. Current Limit: 0, Current Usage: 0"),
        ),
        (409, "OperationNotAllowed", format!("{quota} LowPriorityCores quota. Current Limit: 3")),
        (409, "OperationNotAllowed", format!("{quota} Total Regional Cores quota. Current Limit: 20")),
        (409, "SkuNotAvailable", String::new()),
        (0, "ZonalAllocationFailed", String::new()),
        (0, "AllocationFailed", String::new()),
        (0, "OverconstrainedZonalAllocationRequest", String::new()),
        (0, "OverconstrainedAllocationRequest", String::new()),
        (400, "SubnetIsFull", String::new()),
        (400, "NicReservedForAnotherVm", String::new()),
        (403, "RequestDisallowedByPolicy", String::new()),
        (429, "TooManyRequests", String::new()),
        (403, "AuthorizationFailed", String::new()),
        (409, "AnotherOperationInProgress", String::new()),
    ];
    let mut table = String::new();
    for (status, code, message) in cases {
        let error = json!({"code": code, "message": message});
        let fault = match status {
            0 => Fault::of_operation(ErrorBody::of_inner(&error)),
            _ => sync(status, code, &message),
        };
        table.push_str(&format!(
            "{:?}\n  on-demand {}\n  spot      {}\n",
            fault.kind,
            blocks(&fault, BuyAs::OnDemand),
            blocks(&fault, BuyAs::Spot)
        ));
    }
    assert_eq!(table, include_str!("blocks.txt"));
}

#[test]
fn the_cause_is_found_in_details_and_inner_errors() {
    let wrapped = json!({"error": {
        "code": "DeploymentFailed", "message": "At least one operation failed.",
        "details": [{"code": "Conflict", "message": "x", "innererror": {
            "code": "ResourceError",
            "details": [{"code": "zonalallocationfailed", "message": "no room"}]
        }}]
    }});
    let fault = Fault::of_answer(Received { status: 409, retry_after_seconds: None }, Some(&wrapped));
    assert_eq!(fault.kind, FaultKind::NoCapacityInZone);
    assert_eq!(fault.message, "no room");
}

#[test]
fn networks_conflict_that_comes_as_429_is_a_conflict_and_not_throttling() {
    let body = json!({"error": {"code": "RetryableErrorDueToAnotherOperation", "message": ""}});
    let fault = Fault::of_answer(Received { status: 429, retry_after_seconds: Some(10) }, Some(&body));
    assert_eq!(fault.kind, FaultKind::Conflict);
    assert!(fault.is_worth_a_retry());
}

#[test]
fn computes_throttling_under_the_code_of_a_quota_is_throttling() {
    let body = json!({"error": {"code": "OperationNotAllowed", "message": "too many requests", "details": [
        {"code": "TooManyRequests", "target": "PutVM3Min", "message": "{\"operationgroup\":\"PutVM3Min\"}"}]}});
    let fault = Fault::of_answer(Received { status: 429, retry_after_seconds: Some(42) }, Some(&body));
    assert_eq!(fault.kind, FaultKind::Throttled);
    assert_eq!(blocks(&fault, BuyAs::Spot), "Bucket 00:00:42");
}

#[test]
fn a_limit_that_begins_with_0_digits_is_not_0() {
    let text = "exceeding approved standardDFamily Cores quota. Current Limit: 08";
    assert_eq!(sync(409, "OperationNotAllowed", text).kind, FaultKind::FamilyQuota { is_zero: false });
}

#[test]
fn an_error_without_a_known_body_is_told_by_its_status() {
    let of = |status, body: Option<&Value>| {
        Fault::of_answer(Received { status, retry_after_seconds: None }, body).kind
    };
    assert_eq!(of(404, None), FaultKind::NotFound);
    assert_eq!(of(412, Some(&json!([]))), FaultKind::AlreadyExists);
    assert_eq!(of(503, Some(&json!({"Message": 1}))), FaultKind::Unavailable);
    assert_eq!(of(418, Some(&json!({"code": "Teapot", "message": "short"}))), FaultKind::Other);
    assert_eq!(Fault::of_operation(None).kind, FaultKind::Other);
}

#[test]
fn messages_are_one_line_of_bounded_length_and_trees_are_bounded() {
    let mut error = json!({"code": "Inner", "message": "m"});
    for _ in 0..100 {
        error = json!({"code": "Outer\u{1b}[31m", "message": format!("a\n{}", "é".repeat(5000)), "details": vec![error; 1]});
    }
    let narrow = json!({"code": "Narrow", "message": ""});
    let wide = json!({"code": "Wide", "message": "", "details": vec![narrow; 1000]});
    assert!(ErrorBody::of_inner(&wide).unwrap().all().len() <= 64);
    let fault = Fault::of_operation(ErrorBody::of_inner(&error));
    assert_eq!(fault.code, "Outer[31m");
    assert!(fault.message.chars().count() <= error_body::MESSAGE_MAX, "{}", fault.message.chars().count());
    assert!(!fault.message.contains('\n'));
}

#[test]
fn a_retry_after_of_any_size_stays_within_an_hour() {
    let fault = Fault::of_answer(Received { status: 429, retry_after_seconds: Some(u64::MAX) }, None);
    assert_eq!(blocks(&fault, BuyAs::OnDemand), "Bucket 01:00:00");
}

#[test]
fn hints_follow_what_is_said_of_a_code_that_says_too_little() {
    let hints =
        |code: &str, said: &str| Fault::hints_of(code, said).into_iter().collect::<Vec<_>>().join("; ");
    let spot = "Standard_D2s_v5 in zone 1: the quota of spot cores is used up (OperationNotAllowed)";
    assert!(hints("OperationNotAllowed", spot).starts_with("request spot quota"));
    let both = format!("Standard_D4s_v5 in zone 1: the zone has no capacity for this size (X); {spot}");
    let said = hints("OperationNotAllowed", &both);
    assert!(said.contains("allow more sizes or zones") && said.contains("request spot quota"), "{said}");
    assert!(
        hints("OperationNotAllowed", "Standard_D2s_v5 in zone 1: OperationNotAllowed")
            .contains("total cores")
    );
    assert!(hints("ScopeLocked", "").starts_with("remove the lock"));
    assert_eq!(hints("Unheard", "of"), "");
}
