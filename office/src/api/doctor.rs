//! The examination of the queues.

use super::Current;
use super::answer::Answer;
use crate::doctor;
use axum::extract::Json;
use wire::DoctorAnswer;

pub(super) async fn examine(Current(api): Current) -> Answer<DoctorAnswer> {
    let queues = doctor::run(&api.office, &api.watching).await?;
    Ok(Json(DoctorAnswer { at: api.office.now(), queues }))
}
