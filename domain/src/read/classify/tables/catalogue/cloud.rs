//! Codes of cloud services, containers and payment providers.
//!
//! Compared with the names in these sources:
//!
//! - Stripe: the codes in `stripe/stripe-node` (src/resources) and the decline codes in `woocommerce/woocommerce-ios`
//!   (DeclineReason+Stripe.swift). Of the decline codes, those five are transient that Stripe says to try again:
//!   `approve_with_id`, `issuer_not_available`, `processing_error`, `reenter_transaction` and `try_again_later`.
//! - Adyen: the page "Refusal reasons" of docs.adyen.com and the enumerations in `Adyen/adyen-node-api-library`.
//! - PayPal: `paypal/paypal-rest-api-specifications` and `paypal/PayPal-TypeScript-Server-SDK`.
//! - Braintree: `braintree/braintree_node`, and its page of authorization responses for the codes from 3000.
//! - Azure: Storage in `Azure/azure-sdk-for-go` (bloberror/error_codes.go) and `Azure/azure-storage-node`
//!   (constants.js), Resource Manager in `MicrosoftDocs/azure-docs` (common-deployment-errors.md), Service Bus in
//!   ServiceBusFailureReason of the .NET library.
//! - Google: google/api/error_reason.proto in `googleapis/googleapis`, and the core errors of its older JSON APIs as
//!   client programs repeat them. ResourceManagerException of its Java library says which of them to try again.
//! - Kubernetes: StatusReason and CauseType in `kubernetes/apimachinery`, the conditions in `kubernetes/api`, the
//!   reasons in pkg/kubelet of `kubernetes/kubernetes` (images, container, kuberuntime, events). Docker: `moby/moby`.
//! - Slack: `slackapi/slack-api-specs` (2021). OpenAI: `openai/openai-openapi`. GitHub: error.rb of
//!   `octokit/octokit.rb`. Twilio: `twilio/twilio-oai`, which has hardly any names, because Twilio's errors are
//!   numbers.
//! - Apigee: "Quota policy" and "SpikeArrest policy" of its reference: 429, or 500 in older organisations; a quota may be
//!   one of months. Salesforce: `UNABLE_TO_LOCK_ROW` of "Status codes and error responses".
//!
//! Not compared with a list of the vendor: the codes of OpenAI beyond `server_error`, `rate_limit_exceeded` and
//! `invalid_prompt`, `overloaded_error` of Anthropic, `RequestRateTooLarge` of Cosmos DB, and PayPal's older
//! `TRANSACTION_ALREADY_REFUNDED`. Programs that call these services have these names. Advice on retries was compared
//! for Stripe, Azure, Google, Kubernetes and Slack, not for the others. A name without a source is here only if its own
//! words say what it means (`gateway_unavailable`).

use super::super::{P, Row, T, U};
use crate::reading::Category::*;

/// See the module. The keys are [keys](super::key).
#[rustfmt::skip]
pub static CLOUD: &[Row] = &[
    ("accessnotconfigured", P, Auth), ("accesstokenscopeinsufficient", P, Auth), ("accountbeingcreated", T, Conflict),
    ("accountclosed", P, BusinessRule), ("accountinactive", P, Auth), ("accountinvalid", P, Configuration),
    ("accountlimitexceeded", P, ResourceLimit), ("accountsuspended", P, Configuration), ("acquirererror", T, DependencyUnavailable),
    ("activitytasktimedout", T, Timeout), ("allocationfailed", T, ResourceLimit), ("alreadyinchannel", P, Duplicate),
    ("alreadyreacted", P, Duplicate), ("amounttoolarge", P, SchemaViolation), ("amounttoosmall", P, SchemaViolation),
    ("anotheroperationinprogress", T, Conflict), ("apiconnectionerror", T, DependencyUnavailable),
    ("apikeyexpired", P, Auth), ("apikeyinvalid", P, Auth), ("approvewithid", T, DependencyUnavailable), ("authenticationfailure", P, Auth),
    ("authenticationrequired", P, BusinessRule), ("autherror", P, Auth), ("authorizationalreadycaptured", P, Duplicate),
    ("authorizationfailed", P, Auth), ("authorizationfailure", P, Auth), ("authorizationpermissionmismatch", P, Auth),
    ("authorizationvoided", P, BusinessRule), ("avsdeclined", P, BusinessRule), ("backenderror", T, DependencyUnavailable),
    ("backofflimitexceeded", U, ResourceLimit), ("badrequest", P, SchemaViolation), ("balanceinsufficient", P, BusinessRule),
    ("bankaccountdeclined", P, BusinessRule), ("blobalreadyexists", P, Duplicate), ("blobbeingrehydrated", T, Conflict),
    ("blobnotfound", P, MissingReference), ("blockcountexceedslimit", P, ResourceLimit), ("blockedcard", P, BusinessRule),
    ("callissuer", P, BusinessRule), ("capturefullyrefunded", P, Duplicate), ("carddeclined", P, BusinessRule),
    ("cardexpired", P, BusinessRule), ("cardnotsupported", P, BusinessRule), ("cardrequiresonlinepin", P, BusinessRule),
    ("cardvelocityexceeded", P, BusinessRule), ("channelnotfound", P, MissingReference), ("chargealreadycaptured", P, Duplicate),
    ("chargealreadyrefunded", P, Duplicate), ("chargedisputed", P, BusinessRule), ("chargeexpiredforcapture", P, BusinessRule),
    ("complianceviolation", P, BusinessRule), ("concurrentlimitexceeded", T, Throttled),
    ("conditionheadersnotsupported", P, SchemaViolation), ("conditionnotmet", P, Conflict), ("conflictingserveroperation", T, Conflict),
    ("consumerinvalid", P, Auth), ("containeralreadyexists", P, Duplicate), ("containerbeingdeleted", T, Conflict),
    ("containercreating", T, DependencyUnavailable), ("containernotfound", P, MissingReference),
    ("contentpolicyviolation", P, SchemaViolation), ("contextlengthexceeded", P, SchemaViolation), ("countryunsupported", P, Configuration),
    ("couponexpired", P, BusinessRule), ("crashloopbackoff", T, DependencyUnavailable), ("createcontainer", P, Configuration),
    ("createcontainerconfig", P, Configuration), ("currencynotsupported", P, SchemaViolation),
    ("currencynotsupportedforcountry", P, SchemaViolation), ("cvcdeclined", P, BusinessRule), ("dailylimitexceeded", U, ResourceLimit),
    ("dailylimitexceededunreg", P, Configuration), ("debitnotauthorized", P, BusinessRule), ("decimalprecision", P, SchemaViolation),
    ("declinednongeneric", P, BusinessRule), ("diskfull", U, ResourceLimit), ("diskpressure", T, ResourceLimit),
    ("donothonor", P, BusinessRule), ("donottryagain", P, BusinessRule), ("duplicate", P, Duplicate), ("duplicateinvoiceid", P, Duplicate),
    ("duplicatetransaction", P, Duplicate), ("emailinvalid", P, SchemaViolation), ("emptymetadatakey", P, SchemaViolation),
    ("engineoverloaded", T, DependencyUnavailable), ("entityalreadyexists", P, Duplicate), ("entitynotfound", P, MissingReference),
    ("errimageneverpull", P, MissingReference), ("evicted", T, DependencyUnavailable), ("expiredauthenticationtoken", P, Auth),
    ("expiredcard", P, BusinessRule), ("failedscheduling", T, ResourceLimit), ("fieldvalueduplicate", P, SchemaViolation),
    ("fieldvalueforbidden", P, SchemaViolation), ("fieldvalueinvalid", P, SchemaViolation), ("fieldvaluenotsupported", P, SchemaViolation),
    ("fieldvaluerequired", P, SchemaViolation), ("forbidden", P, Auth), ("fraudcancelled", P, BusinessRule),
    ("fraudulent", P, BusinessRule), ("gatewayrejected", P, BusinessRule), ("gatewayunavailable", T, DependencyUnavailable),
    ("genericdecline", P, BusinessRule), ("httpmethodnotallowed", P, Configuration), ("iampermissiondenied", P, Auth),
    ("idempotencykeyinuse", T, Conflict), ("imageinspect", U, DependencyUnavailable), ("imagepulltimeout", T, Timeout),
    ("incorrectapikey", P, Auth), ("incorrectcvc", P, SchemaViolation), ("incorrectnumber", P, SchemaViolation),
    ("incorrectpin", P, BusinessRule), ("incorrectzip", P, SchemaViolation), ("instrumentdeclined", P, BusinessRule),
    ("instrumentnotfound", P, MissingReference), ("insufficientaccountpermissions", P, Auth), ("insufficientcapacity", T, ResourceLimit),
    ("insufficientfunds", P, BusinessRule), ("insufficientpermissions", P, Auth), ("insufficientquota", U, ResourceLimit),
    ("internalfailure", T, DependencyUnavailable), ("internalserver", T, DependencyUnavailable),
    ("internalservererror", T, DependencyUnavailable), ("internalserviceerror", T, DependencyUnavailable),
    ("invalidaccount", P, BusinessRule), ("invalidamount", P, BusinessRule), ("invalidapikey", P, Auth),
    ("invalidargname", P, SchemaViolation), ("invalidarguments", P, SchemaViolation), ("invalidauth", P, Auth),
    ("invalidauthenticationinfo", P, Auth), ("invalidauthenticationtoken", P, Auth), ("invalidblobtype", P, SchemaViolation),
    ("invalidblockid", P, SchemaViolation), ("invalidblocklist", P, SchemaViolation), ("invalidblocks", P, SchemaViolation),
    ("invalidcardnumber", P, BusinessRule), ("invalidcvc", P, SchemaViolation), ("invalidexpirymonth", P, SchemaViolation),
    ("invalidexpiryyear", P, SchemaViolation), ("invalidheadervalue", P, SchemaViolation), ("invalidimagename", P, SchemaViolation),
    ("invalidimagereference", P, Configuration), ("invalidmarker", P, SchemaViolation), ("invalidmd5", P, SchemaViolation),
    ("invalidmetadata", P, SchemaViolation), ("invalidname", P, SchemaViolation), ("invalidnumber", P, SchemaViolation),
    ("invalidpagerange", P, SchemaViolation), ("invalidparameter", P, SchemaViolation), ("invalidpin", P, BusinessRule),
    ("invalidprompt", P, SchemaViolation), ("invalidqueryparametervalue", P, SchemaViolation), ("invalidrange", P, SchemaViolation),
    ("invalidrequestcontent", P, SchemaViolation), ("invalidrequesterror", P, SchemaViolation),
    ("invalidrequestformat", P, SchemaViolation), ("invalidresourceid", P, MissingReference), ("invalidresourcename", P, SchemaViolation),
    ("invalidstringlength", P, SchemaViolation), ("invalidsubscriptionregistrationstate", P, Configuration),
    ("invalidtemplate", P, SchemaViolation), ("invalidtype", P, SchemaViolation), ("invaliduri", P, SchemaViolation),
    ("invalidvalue", P, SchemaViolation), ("invalidxmldocument", P, SchemaViolation), ("invalidxmlnodevalue", P, SchemaViolation),
    ("isarchived", P, BusinessRule), ("issuernotavailable", T, DependencyUnavailable), ("issuersuspectedfraud", P, BusinessRule),
    ("issuerunavailable", T, DependencyUnavailable), ("leasealreadypresent", T, Conflict),
    ("leaseisbreakingandcannotbeacquired", T, Conflict), ("leaselost", T, Conflict), ("linkedauthorizationfailed", P, Auth),
    ("livemodemismatch", P, Configuration), ("lostcard", P, BusinessRule), ("malformedrequestjson", P, SchemaViolation),
    ("maxnumberofrefundsexceeded", P, BusinessRule), ("md5mismatch", P, SchemaViolation), ("memorypressure", T, ResourceLimit),
    ("merchantblacklist", P, BusinessRule), ("messagelocklost", T, Conflict), ("messagenotfound", P, MissingReference),
    ("messagesizeexceeded", P, ResourceLimit), ("messagetoolarge", P, ResourceLimit), ("messagingentitynotfound", P, MissingReference),
    ("metadatatoolarge", P, ResourceLimit), ("methoddeprecated", P, Configuration), ("methodnotallowed", P, Configuration),
    ("missingcontentlengthheader", P, SchemaViolation), ("missingrequiredheader", P, SchemaViolation),
    ("missingrequiredparameter", P, SchemaViolation), ("missingrequiredqueryparameter", P, SchemaViolation),
    ("missingrequiredxmlnode", P, SchemaViolation), ("missingscope", P, Auth), ("missingsubscriptionregistration", P, Configuration),
    ("modelnotfound", P, MissingReference), ("msgtoolong", P, SchemaViolation), ("networknotready", T, DependencyUnavailable),
    ("networkunavailable", T, DependencyUnavailable), ("newaccountinformationavailable", P, BusinessRule), ("noaccount", P, BusinessRule),
    ("noactiontaken", P, BusinessRule), ("noauthenticationinformation", P, Auth), ("nocheckingaccountavailableoncard", P, BusinessRule),
    ("nodelost", T, DependencyUnavailable), ("nodenotready", T, DependencyUnavailable), ("nodeshutdown", T, DependencyUnavailable),
    ("nopermission", P, Auth), ("nosuchentity", P, MissingReference), ("notacceptable", P, SchemaViolation), ("notauthed", P, Auth),
    ("notenoughbalance", P, BusinessRule), ("notext", P, SchemaViolation), ("notinchannel", P, BusinessRule),
    ("notpermitted", P, BusinessRule), ("offlinepinrequired", P, BusinessRule), ("onlineorofflinepinrequired", P, BusinessRule),
    ("oomkilled", U, ResourceLimit), ("operationinprogress", T, Conflict), ("operationthrottled", T, Throttled),
    ("optimisticconcurrencyfailure", T, Conflict), ("orderalreadyauthorized", P, Duplicate), ("orderalreadycaptured", P, Duplicate),
    ("orderexpired", P, BusinessRule), ("ordernotapproved", P, BusinessRule), ("outofrangeinput", P, SchemaViolation),
    ("outofrangequeryparametervalue", P, SchemaViolation), ("overconstrainedallocationrequest", T, ResourceLimit),
    ("overloadederror", T, DependencyUnavailable), ("parameterinvalidempty", P, SchemaViolation),
    ("parameterinvalidinteger", P, SchemaViolation), ("parameterinvalidstringblank", P, SchemaViolation),
    ("parameterinvalidstringempty", P, SchemaViolation), ("parametermissing", P, SchemaViolation),
    ("parametersexclusive", P, SchemaViolation), ("parameterunknown", P, SchemaViolation), ("parentnotfound", P, MissingReference),
    ("payeeaccountrestricted", P, BusinessRule), ("payeraccountrestricted", P, BusinessRule), ("payeractionrequired", P, BusinessRule),
    ("payercannotpay", P, BusinessRule), ("paymentintentauthenticationfailure", P, BusinessRule),
    ("paymentintentunexpectedstate", P, BusinessRule), ("paymentmethodunactivated", P, BusinessRule),
    ("paymentmethodunexpectedstate", P, BusinessRule), ("payoutsnotallowed", P, BusinessRule), ("pendingcopyoperation", T, Conflict),
    ("pickupcard", P, BusinessRule), ("pintryexceeded", P, BusinessRule), ("platformapikeyexpired", P, Configuration),
    ("podinitializing", T, DependencyUnavailable), ("popreceiptmismatch", P, MissingReference), ("postalcodeinvalid", P, SchemaViolation),
    ("preempted", T, DependencyUnavailable), ("preempting", T, DependencyUnavailable), ("processingerror", T, DependencyUnavailable),
    ("processordeclined", P, BusinessRule), ("processornetworkunavailable", T, DependencyUnavailable),
    ("propertiesneedvalue", P, SchemaViolation), ("propertynameinvalid", P, SchemaViolation), ("propertyvaluetoolarge", P, SchemaViolation),
    ("queuealreadyexists", P, Duplicate), ("queuebeingdeleted", T, Conflict), ("queuenotfound", P, MissingReference),
    ("quotaexceeded", U, ResourceLimit), ("quotaviolation", U, Throttled), ("ratelimit", T, Throttled), ("reentertransaction", T, DependencyUnavailable),
    ("refunddisputedpayment", P, BusinessRule), ("requestbodytoolarge", P, ResourceLimit), ("requestconflict", T, Conflict),
    ("requestentitytoolarge", P, ResourceLimit), ("requestratetoolarge", T, Throttled), ("requesttimedout", T, Timeout),
    ("requesttoolarge", P, ResourceLimit), ("requesturlfailedtoparse", P, SchemaViolation), ("requiredfield", P, SchemaViolation),
    ("resourcealreadyexists", P, Duplicate), ("resourcebeingdeleted", T, Conflict), ("resourcegroupnotfound", P, MissingReference),
    ("resourcemissing", P, MissingReference), ("resourcenotfound", P, MissingReference), ("resourcenotready", T, DependencyUnavailable),
    ("restrictedaction", P, BusinessRule), ("restrictedcard", P, BusinessRule), ("retryableerror", T, DependencyUnavailable),
    ("revocationofallauthorizations", P, BusinessRule), ("revocationofauth", P, BusinessRule),
    ("revocationofauthorization", P, BusinessRule), ("runcontainer", P, Configuration), ("secretkeyrequired", P, Auth),
    ("securityviolation", P, BusinessRule), ("servererror", T, DependencyUnavailable), ("servertimeout", T, DependencyUnavailable),
    ("servicedisabled", P, Auth), ("serviceexception", T, DependencyUnavailable), ("servicenotavailable", T, DependencyUnavailable),
    ("servicetemporarilyunavailable", T, DependencyUnavailable), ("servicetimeout", T, DependencyUnavailable),
    ("sessioncannotbelocked", T, Conflict), ("sessionlocklost", T, Conflict), ("settlementdeclined", P, BusinessRule),
    ("setupintentunexpectedstate", P, BusinessRule), ("sharenotfound", P, MissingReference), ("skuinactive", P, SchemaViolation),
    ("spikearrestviolation", T, Throttled), ("stolencard", P, BusinessRule), ("stoppaymentorder", P, BusinessRule), ("stringabovemaxlength", P, SchemaViolation),
    ("subscriptionrequeststhrottled", T, Throttled), ("tablealreadyexists", P, Duplicate), ("tablebeingdeleted", T, Conflict),
    ("tablenotfound", P, MissingReference), ("teamaddedtoorg", T, DependencyUnavailable), ("testmodechargesonly", P, Configuration),
    ("testmodedecline", P, BusinessRule), ("threadnotfound", P, MissingReference), ("throttlingexception", T, Throttled),
    ("tokenexpired", P, Auth), ("tokenrevoked", P, Auth), ("transactionalreadyrefunded", P, Duplicate),
    ("transactionlimitexceeded", P, BusinessRule), ("transactionnotallowed", P, BusinessRule), ("transactionnotpermitted", P, BusinessRule),
    ("transactionrefused", P, BusinessRule), ("transientfailure", T, DependencyUnavailable), ("tryagainlater", T, DependencyUnavailable),
    ("unabletolockrow", T, Conflict), ("unknownmethod", P, Configuration), ("unprocessableentity", P, SchemaViolation), ("unschedulable", T, ResourceLimit),
    ("unsupportedheader", P, SchemaViolation), ("unsupportedhttpverb", P, Configuration), ("unsupportedintent", P, Configuration),
    ("unsupportedmediatype", P, Configuration), ("unsupportedqueryparameter", P, SchemaViolation), ("unsupportedvalue", P, SchemaViolation),
    ("unsupportedxmlnode", P, SchemaViolation), ("updateconditionnotsatisfied", P, Conflict), ("uploadtoolarge", P, ResourceLimit),
    ("urlinvalid", P, SchemaViolation), ("userratelimitexceeded", T, Throttled), ("validationerror", P, SchemaViolation),
    ("variabletermlimitexceeded", T, Throttled), ("withdrawalamountexceeded", P, BusinessRule),
    ("withdrawalcountexceeded", P, BusinessRule), ("withdrawalcountlimitexceeded", P, BusinessRule),
    ("zoneresourcepoolexhausted", T, ResourceLimit),
];
