//! The service's tenants: shops.

/// Tenants with an account.
pub(super) const TENANTS: &[&str] = &["acme", "birch", "corvid", "dunes"];

/// A tenant that closed its account while its orders were still being processed.
pub(super) const DELETED_TENANT: &str = "elmwood";

/// The tenant's account was closed.
#[derive(Debug, thiserror::Error)]
#[error("the tenant {tenant} was deleted")]
pub(super) struct TenantDeleted {
    tenant: String,
}

/// Checks that a tenant has an account.
pub(super) fn check(tenant: &str) -> Result<(), TenantDeleted> {
    match TENANTS.contains(&tenant) {
        true => Ok(()),
        false => Err(TenantDeleted { tenant: tenant.into() }),
    }
}
