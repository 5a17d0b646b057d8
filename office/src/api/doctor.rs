//! The examination of the queues.

use super::Api;
use super::answer::Answer;
use crate::doctor;
use axum::extract::{Json, State};
use wire::DoctorAnswer;

pub(super) async fn examine(State(api): State<Api>) -> Answer<DoctorAnswer> {
    let queues = doctor::run(&api.office, &api.watching).await?;
    Ok(Json(DoctorAnswer { at: api.office.now(), queues }))
}
