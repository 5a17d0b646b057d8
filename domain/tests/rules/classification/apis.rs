//! Errors of APIs and clouds, as their vendors document them.

use super::{P, Row, Sourced, T, U};

#[rustfmt::skip]
const PAYMENTS: &[Row] = &[
    ("stripe.CardError", "Your card has insufficient funds. (code: card_declined, decline_code: insufficient_funds)", P),
    ("StripeCardError", "Your card was declined.", P),
    ("StripeInvalidRequestError", "No such customer: 'cus_NffrFeUfNV2Hib'", P),
    ("Stripe::APIConnectionError", "Connection to Stripe API failed (Errno::ETIMEDOUT)", T),
    ("StripeAPIError", "An error occurred with our API. (Request req_Gk3 answered 503)", T),
    ("Error", "lock_timeout: This object cannot be accessed right now because another API request or Stripe process is currently accessing it.", T),
    ("Error", "idempotency_key_in_use: There is currently another in-progress request using this Idempotent Key", T),
    ("AdyenException", "Refused: FRAUD (refusalReasonCode 20)", P),
    ("AdyenException", "Acquirer Error: the transaction did not go through due to an error that occurred on the acquirer's end, try again later", T),
    ("PayPalError", "INSTRUMENT_DECLINED: The instrument presented was either declined by the processor or bank, or it can't be used for this payment.", P),
    ("PayPalError", "INTERNAL_SERVICE_ERROR: An internal service error has occurred. HTTP 500", T),
    ("PayPalError", "PAYER_ACCOUNT_RESTRICTED: Payer's account is restricted.", P),
    ("Braintree::AuthenticationError", "", P),
    ("Braintree::ServerError", "", T),
    ("SquareApiException", "RATE_LIMITED: Your access token has exceeded its rate limit", T),
];

#[rustfmt::skip]
const MESSAGING: &[Row] = &[
    ("TwilioRestException", "HTTP 429 error: Unable to create record: Too Many Requests (20429)", T),
    ("TwilioRestException", "HTTP 400 error: Unable to create record: The 'To' number +1555 is not a valid phone number. (21211)", P),
    ("RestException", "[HTTP 400] Unable to create record | Attempt to send to unsubscribed recipient (21610)", P),
    ("SlackApiError", "The request to the Slack API failed. The server responded with: {'ok': False, 'error': 'channel_not_found'}", P),
    ("SlackApiError", "The request to the Slack API failed. The server responded with: {'ok': False, 'error': 'ratelimited'}", T),
    ("SlackApiError", "An API error occurred: invalid_auth", P),
    ("SlackApiError", "An API error occurred: is_archived", P),
    ("SendGridException", "HTTP Error 413: Payload Too Large - the JSON payload you have included in your request is too large", U),
    ("MailgunError", "Sandbox subdomains are for test purposes only. Please add your own domain or add the address to authorized recipients", P),
    ("smtplib.SMTPAuthenticationError", "(535, b'5.7.8 Username and Password not accepted')", P),
    ("smtplib.SMTPServerDisconnected", "Connection unexpectedly closed", T),
    ("FirebaseError", "messaging/registration-token-not-registered: Requested entity was not found.", P),
    ("FirebaseError", "messaging/server-unavailable: The FCM server could not process the request in time", T),
    ("telegram.error.RetryAfter", "Flood control exceeded. Retry in 27 seconds", T),
    ("telegram.error.Forbidden", "Forbidden: bot was blocked by the user", P),
    ("DiscordAPIError", "Unknown Channel (10003)", P),
];

#[rustfmt::skip]
const SAAS: &[Row] = &[
    ("GithubException", "403 {\"message\": \"API rate limit exceeded for user ID 1.\"}", T),
    ("GithubException", "422 {\"message\": \"Validation Failed\", \"errors\": [{\"code\": \"missing_field\"}]}", P),
    ("octokit.RequestError", "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.", T),
    ("SalesforceError", "UNABLE_TO_LOCK_ROW: unable to obtain exclusive access to this record", T),
    ("SalesforceError", "INVALID_SESSION_ID: Session expired or invalid", P),
    ("SalesforceError", "FIELD_CUSTOM_VALIDATION_EXCEPTION: Close date must not lie in the past", P),
    ("SalesforceError", "REQUIRED_FIELD_MISSING: Required fields are missing: [LastName]", P),
    ("SalesforceError", "SERVER_UNAVAILABLE: The server is too busy, please retry", T),
    ("SalesforceError", "ENTITY_IS_DELETED: entity is deleted", P),
    ("ShopifyError", "Exceeded 2 calls per second for api client. Reduce request rates to resume uninterrupted service.", T),
    ("ShopifyError", "Throttled (extensions.code THROTTLED)", T),
    ("Auth0Error", "unauthorized_client: Grant type 'password' not allowed for the client.", P),
    ("MsalServiceException", "AADSTS7000215: Invalid client secret provided.", P),
    ("MsalUiRequiredException", "AADSTS50076: Due to a configuration change made by your administrator you must use multi-factor authentication", P),
    ("ODataError", "InvalidAuthenticationToken: Access token has expired or is not yet valid.", P),
    ("openai.RateLimitError", "Rate limit reached for gpt-4 in organization org-x on tokens per min", T),
    ("openai.BadRequestError", "This model's maximum context length is 8192 tokens", P),
    ("openai.InternalServerError", "The server had an error while processing your request. Sorry about that!", T),
    ("anthropic.APIStatusError", "Overloaded", T),
    ("elasticsearch.BadRequestError", "BadRequestError(400, 'mapper_parsing_exception', 'failed to parse field [price] of type [float]')", P),
    ("elasticsearch.ApiError", "ApiError(429, 'es_rejected_execution_exception', 'rejected execution of coordinating operation')", T),
    ("elasticsearch.ConflictError", "ConflictError(409, 'version_conflict_engine_exception', '[1]: version conflict, required seqNo [4]')", T),
    ("elasticsearch.NotFoundError", "NotFoundError(404, 'index_not_found_exception', 'no such index [orders]')", P),
    ("OpenSearchException", "cluster_block_exception: index [orders] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block]", T),
];

#[rustfmt::skip]
const CLOUDS: &[Row] = &[
    ("com.amazonaws.services.dynamodbv2.model.ProvisionedThroughputExceededException", "The level of configured provisioned throughput for the table was exceeded", T),
    ("TransactionCanceledException", "Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict, None]", T),
    ("TransactionCanceledException", "Transaction cancelled, please refer cancellation reasons for specific reasons [ConditionalCheckFailed, None]", P),
    ("S3Exception", "The specified key does not exist. (Service: S3, Status Code: 404, Request ID: X)", P),
    ("S3Exception", "Please reduce your request rate. (Service: S3, Status Code: 503, Request ID: X)", T),
    ("botocore.errorfactory.NoSuchBucket", "An error occurred (NoSuchBucket) when calling the GetObject operation: The specified bucket does not exist", P),
    ("botocore.exceptions.EndpointConnectionError", "Could not connect to the endpoint URL: \"https://sqs.eu-west-1.amazonaws.com/\"", T),
    ("botocore.exceptions.NoCredentialsError", "Unable to locate credentials", P),
    ("botocore.exceptions.ParamValidationError", "Parameter validation failed: Missing required parameter in input: \"Bucket\"", P),
    ("ClientError", "An error occurred (KMSAccessDeniedException) when calling the Invoke operation", P),
    ("ClientError", "An error occurred (RequestTimeTooSkewed) when calling the PutObject operation", P),
    ("ClientError", "An error occurred (ResourceInUseException) when calling the UpdateTable operation: table is being updated", P),
    ("Lambda.TooManyRequestsException", "Rate Exceeded.", T),
    ("Sandbox.Timedout", "RequestId: 1 Error: Task timed out after 3.00 seconds", T),
    ("Runtime.ImportModuleError", "Unable to import module 'app': No module named 'requests'", P),
    ("Runtime.OutOfMemory", "RequestId: 1 Error: Runtime exited with error: signal: killed", U),
    ("Runtime.HandlerNotFound", "index.handler is undefined or not exported", P),
    ("States.Timeout", "", T),
    ("States.DataLimitExceeded", "", P),
    ("Azure.RequestFailedException", "The specified blob does not exist. Status: 404 (The specified blob does not exist.) ErrorCode: BlobNotFound", P),
    ("Azure.RequestFailedException", "Server failed to authenticate the request. ErrorCode: AuthenticationFailed", P),
    ("Azure.RequestFailedException", "The server is busy. Status: 503 ErrorCode: ServerBusy", T),
    ("Azure.RequestFailedException", "There is already a lease present. ErrorCode: LeaseAlreadyPresent", T),
    ("Microsoft.Azure.Cosmos.CosmosException", "Response status code does not indicate success: TooManyRequests (429); Substatus: 3200", T),
    ("CosmosException", "Response status code does not indicate success: PreconditionFailed (412); one of the specified pre-condition is not met", P),
    ("Azure.Messaging.ServiceBus.ServiceBusException", "The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue. (MessageLockLost)", T),
    ("Azure.Messaging.ServiceBus.ServiceBusException", "The messaging entity could not be found. (MessagingEntityNotFound)", P),
    ("google.api_core.exceptions.ServiceUnavailable", "503 The datastore operation timed out", T),
    ("google.api_core.exceptions.PermissionDenied", "403 Missing or insufficient permissions.", P),
    ("google.api_core.exceptions.Aborted", "409 Aborted due to cross-transaction contention. This occurs when multiple transactions attempt to access the same data", T),
    ("google.api_core.exceptions.NotFound", "404 Resource not found (resource=orders-sub).", P),
    ("google.cloud.spanner.AbortedException", "Transaction was aborted.", T),
    ("googleapi.Error", "googleapi: Error 403: Quota exceeded for quota metric 'Queries' and limit 'Queries per minute', rateLimitExceeded", T),
    ("googleapi.Error", "googleapi: Error 404: The resource 'projects/x' was not found, notFound", P),
    ("googleapi.Error", "googleapi: Error 412: Precondition Failed, conditionNotMet", P),
    ("kubernetes.client.ApiException", "(409) Reason: Conflict, the object has been modified; please apply your changes to the latest version and try again", T),
    ("StatusError", "etcdserver: request timed out, possibly due to previous leader failure", T),
    ("StatusError", "admission webhook denied the request: cpu limit must be set", P),
];

/// All rows, with their source.
pub const ROWS: &[Sourced] = &[
    (
        "Stripe: Error codes, Advanced error handling; Adyen: Refusal reasons; PayPal: Orders v2 errors; Braintree: Exceptions; Square: Handling errors",
        PAYMENTS,
    ),
    (
        "Twilio: Error dictionary; Slack: Web API methods; FCM: Error codes; Telegram: Bot API; RFC 5321, RFC 4954; Discord: Opcodes",
        MESSAGING,
    ),
    (
        "GitHub: REST troubleshooting; Salesforce: API core data types, StatusCode; Shopify: API limits; Microsoft Entra: AADSTS codes; OpenAI: Error codes; Elasticsearch: REST exceptions",
        SAAS,
    ),
    (
        "AWS: common errors of each service, Lambda runtimes; Azure: Storage, Cosmos DB, Service Bus exceptions; Google: API errors, Spanner; Kubernetes: API conventions",
        CLOUDS,
    ),
];
