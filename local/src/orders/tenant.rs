//! The shops that the service works for.

/// Shops with an account.
pub(super) const TENANTS: &[&str] = &["acme", "birch", "corvid", "dunes"];

/// A shop that has closed its account while its orders were still under way.
pub(super) const DELETED_TENANT: &str = "elmwood";

/// The account was closed.
#[derive(Debug, thiserror::Error)]
#[error("the tenant {tenant} was deleted")]
pub(super) struct TenantDeleted {
    tenant: String,
}

/// Whether a shop may still order.
pub(super) fn check(tenant: &str) -> Result<(), TenantDeleted> {
    match TENANTS.contains(&tenant) {
        true => Ok(()),
        false => Err(TenantDeleted { tenant: tenant.into() }),
    }
}
