//! Codes of directory services, names, certificates and of the operating system.
//!
//! Compared with the names in these sources:
//!
//! - LDAP: the result codes of RFC 4511 in `go-ldap/ldap`, the constants of `openldap/openldap` (ldap.h), the
//!   exceptions of `cannatag/ldap3`.
//! - DNS: the return codes in `miekg/dns` and `rthalley/dnspython` (also its exceptions), the codes of `c-ares/c-ares`.
//! - TLS: the alerts of RFC 8446 and of older versions in OpenSSL (ssl.h, tls1.h) and `rustls/rustls` (enums.rs).
//!   `bad_record_mac` is transient: the record was damaged on its way. `user_canceled` is not in the table, because the
//!   name can also mean that a customer cancelled something.
//! - gRPC and Connect: `grpc/grpc-go` (codes) and `connectrpc/connect-go`. HTTP/2 and HTTP/3: `hyperium/h2` and
//!   `hyperium/h3`. WebSocket: the close codes in `python-websockets/websockets`. OAuth 2.0: `oauthlib/oauthlib`.
//! - libcurl: `curl/curl` (curl.h). Windows: the WSA names and winerror.h in `retep998/winapi-rs`.
//! - Rust: `std::io::ErrorKind`. Erlang: errors.md of `erlang/otp`. Python: `encode/httpx`. Elixir: `elixir-mint/mint`.
//!
//! Not compared: the transport errors of QUIC (only `H3_REQUEST_REJECTED` is in the table), the reasons of Erlang's
//! httpc and of Netty, which only programs that use them showed, and advice on retries, except gRPC's and that of the
//! RFCs for TLS and HTTP/2. A name without a source is here only if its own words say what it means.

use super::super::{P, Row, T};
use crate::reading::Category::*;

/// See the module. The keys are [keys](super::key).
#[rustfmt::skip]
pub static PROTOCOLS: &[Row] = &[
    ("abnormalclosure", T, DependencyUnavailable), ("aborted", T, Conflict), ("accessdenied", P, Auth), ("accesstokenexpired", P, Auth),
    ("adminlimitexceeded", P, ResourceLimit), ("alreadyinprogress", T, Conflict), ("argumentlisttoolong", P, ResourceLimit),
    ("attributeorvalueexists", P, Duplicate), ("authmethodnotsupported", P, Configuration), ("badarg", P, SchemaViolation),
    ("badcertificate", P, Configuration), ("badcertificatestatusresponse", P, Configuration), ("badkey", P, Auth),
    ("badmap", P, SchemaViolation), ("badmatch", P, SchemaViolation), ("badrecordmac", T, DependencyUnavailable), ("badsig", P, Auth),
    ("badtime", P, Auth), ("badvers", P, MalformedPayload), ("brokenpipe", T, DependencyUnavailable), ("caseclause", P, SchemaViolation),
    ("certificateexpired", P, Configuration), ("certificaterequired", P, Auth), ("certificaterevoked", P, Configuration),
    ("certificateunknown", P, Configuration), ("checkouttimeout", T, Timeout), ("closed", T, DependencyUnavailable),
    ("closenotify", T, DependencyUnavailable), ("compressionerror", P, MalformedPayload), ("connecterror", T, DependencyUnavailable),
    ("connectionaborted", T, DependencyUnavailable), ("connectionclosed", T, DependencyUnavailable),
    ("connectionrefused", T, DependencyUnavailable), ("connectionreset", T, DependencyUnavailable), ("connecttimeout", T, Timeout),
    ("constraintviolation", P, SchemaViolation), ("curleagain", T, DependencyUnavailable), ("curleautherror", P, Auth),
    ("curlebadcontentencoding", P, MalformedPayload), ("curlecouldntconnect", T, DependencyUnavailable),
    ("curlefilecouldntreadfile", P, MissingReference), ("curlefilesizeexceeded", P, ResourceLimit), ("curleftpaccepttimeout", T, Timeout),
    ("curlegotnothing", T, DependencyUnavailable), ("curlehttp2stream", T, DependencyUnavailable), ("curlelogindenied", P, Auth),
    ("curlenotbuiltin", P, Configuration), ("curleoperationtimedout", T, Timeout), ("curlepartialfile", T, DependencyUnavailable),
    ("curlepeerfailedverification", P, Configuration), ("curlerecverror", T, DependencyUnavailable), ("curleremoteaccessdenied", P, Auth),
    ("curleremotefilenotfound", P, MissingReference), ("curlesenderror", T, DependencyUnavailable), ("curlesslcacert", P, Configuration),
    ("curlesslcertproblem", P, Configuration), ("curlesslcipher", P, Configuration), ("curletoomanyredirects", P, Configuration),
    ("curleunsupportedprotocol", P, Configuration), ("curleurlmalformat", P, SchemaViolation),
    ("curleweirdserverreply", P, MalformedPayload), ("deadlock", T, Conflict), ("decodeerror", P, MalformedPayload),
    ("decodingerror", P, MalformedPayload), ("decompressionfailure", P, MalformedPayload), ("decrypterror", P, Auth),
    ("dnsrcodeservfail", T, DependencyUnavailable), ("econnrefused", T, DependencyUnavailable), ("econnreset", T, DependencyUnavailable),
    ("ehostunreach", T, DependencyUnavailable), ("encodingerror", P, MalformedPayload), ("enhanceyourcalm", T, Throttled),
    ("enotconn", T, DependencyUnavailable), ("entryalreadyexists", P, Duplicate), ("epipe", T, DependencyUnavailable),
    ("erroraccessdenied", P, Auth), ("erroralreadyexists", P, Duplicate), ("errorbadnetpath", T, DependencyUnavailable),
    ("errorfileexists", P, Duplicate), ("errorfilenotfound", P, MissingReference), ("errorinvaliddata", P, SchemaViolation),
    ("errorinvalidparameter", P, SchemaViolation), ("errorinvalidpassword", P, Auth), ("errorlocked", T, Conflict),
    ("errorlockviolation", T, Conflict), ("errorlogonfailure", P, Auth), ("errornetnamedeleted", T, DependencyUnavailable),
    ("errornetworkunreachable", T, DependencyUnavailable), ("errornotsupported", P, Configuration),
    ("errorpathnotfound", P, MissingReference), ("errorsemtimeout", T, DependencyUnavailable), ("errorsharingviolation", T, Conflict),
    ("errortimeout", T, Timeout), ("eservfail", T, DependencyUnavailable), ("etimeout", T, Timeout), ("ewouldblock", T, Conflict),
    ("expiredtoken", P, Auth), ("failedprecondition", P, SchemaViolation), ("filetoolarge", P, ResourceLimit),
    ("formerr", P, MalformedPayload), ("framesizeerror", P, MalformedPayload), ("functionclause", P, SchemaViolation),
    ("gatewaytimeout", T, Timeout), ("goingaway", T, DependencyUnavailable), ("h3requestrejected", T, DependencyUnavailable),
    ("handshakefailure", P, Configuration), ("http11required", P, Configuration), ("http2goaway", T, DependencyUnavailable),
    ("illegalparameter", P, SchemaViolation), ("inadequatesecurity", P, Configuration), ("inappropriatefallback", P, Configuration),
    ("insufficientaccess", P, Auth), ("insufficientscope", P, Auth), ("insufficientsecurity", P, Configuration),
    ("invalidargument", P, SchemaViolation), ("invalidattributesyntax", P, SchemaViolation), ("invalidclient", P, Auth),
    ("invalidcredentials", P, Auth), ("invaliddata", P, SchemaViolation), ("invaliddnsyntax", P, SchemaViolation),
    ("invalidframepayloaddata", P, SchemaViolation), ("invalidgrant", P, Auth), ("invalidinput", P, SchemaViolation),
    ("invalidrequest", P, SchemaViolation), ("invalidscope", P, SchemaViolation), ("invalidsyntax", P, SchemaViolation),
    ("invalidtoken", P, Auth), ("ldapadminlimitexceeded", P, ResourceLimit), ("ldapalreadyexists", P, Duplicate),
    ("ldapattributeorvalueexists", P, Duplicate), ("ldapauthmethodnotsupported", P, Configuration), ("ldapbusy", T, DependencyUnavailable),
    ("ldapbusyresult", T, DependencyUnavailable), ("ldapconfidentialityrequired", P, Auth), ("ldapconnecterror", T, DependencyUnavailable),
    ("ldapconstraintviolation", P, SchemaViolation), ("ldapentryalreadyexists", P, Duplicate), ("ldapinappropriateauthentication", P, Auth),
    ("ldapinappropriatematching", P, SchemaViolation), ("ldapinsufficientaccess", P, Auth), ("ldapinsufficientaccessrights", P, Auth),
    ("ldapinvalidattributesyntax", P, SchemaViolation), ("ldapinvalidcredentials", P, Auth), ("ldapinvaliddnsyntax", P, SchemaViolation),
    ("ldapnamingviolation", P, SchemaViolation), ("ldapnosuchattribute", P, MissingReference), ("ldapnosuchobject", P, MissingReference),
    ("ldapnotallowedonnonleaf", P, SchemaViolation), ("ldapnotallowedonrdn", P, SchemaViolation),
    ("ldapobjectclassmodsprohibited", P, SchemaViolation), ("ldapobjectclassviolation", P, SchemaViolation),
    ("ldapprotocolerror", P, MalformedPayload), ("ldapresponsetimeout", T, Timeout), ("ldapserverdown", T, DependencyUnavailable),
    ("ldapsessionterminatedbyserver", T, DependencyUnavailable), ("ldapsizelimitexceeded", P, ResourceLimit),
    ("ldapsocketopen", T, DependencyUnavailable), ("ldapsocketreceive", T, DependencyUnavailable),
    ("ldapsocketsend", T, DependencyUnavailable), ("ldapstrongerauthrequired", P, Auth), ("ldaptimelimitexceeded", T, Timeout),
    ("ldaptimeout", T, Timeout), ("ldapunavailable", T, DependencyUnavailable), ("ldapunavailablecriticalextension", P, Configuration),
    ("ldapunavailableresult", T, DependencyUnavailable), ("ldapundefinedattributetype", P, SchemaViolation),
    ("ldapunwillingtoperform", P, Configuration), ("mandatoryextension", P, SchemaViolation), ("messagetoobig", P, ResourceLimit),
    ("missingextension", P, Configuration), ("namingviolation", P, SchemaViolation), ("networkdown", T, DependencyUnavailable),
    ("networkreset", T, DependencyUnavailable), ("noanswer", P, MissingReference), ("noapplicationprotocol", P, Configuration),
    ("noconnection", T, DependencyUnavailable), ("nodedown", T, DependencyUnavailable), ("nonameservers", T, DependencyUnavailable),
    ("noproc", T, DependencyUnavailable), ("norenegotiation", P, Configuration), ("nosuchattribute", P, MissingReference),
    ("nosuchobject", P, MissingReference), ("notallowedonnonleaf", P, SchemaViolation), ("notauth", P, Auth),
    ("notconnected", T, DependencyUnavailable), ("notimp", P, Configuration), ("notzone", P, Configuration),
    ("objectclassviolation", P, SchemaViolation), ("outofrange", P, SchemaViolation), ("parseerror", P, MalformedPayload),
    ("permissiondenied", P, Auth), ("pooltimeout", T, Timeout), ("protocolversion", P, Configuration), ("ratelimitexceeded", T, Throttled),
    ("recordoverflow", P, MalformedPayload), ("recvtimeout", T, Timeout), ("refusedstream", T, DependencyUnavailable),
    ("resourcebusy", T, DependencyUnavailable), ("rpcsservertoobusy", T, DependencyUnavailable),
    ("rpcsserverunavailable", T, DependencyUnavailable), ("serverdown", T, DependencyUnavailable),
    ("servershutdown", T, DependencyUnavailable), ("servfail", T, DependencyUnavailable), ("serviceunavailable", T, DependencyUnavailable),
    ("settingstimeout", T, Timeout), ("sizelimitexceeded", P, ResourceLimit), ("slowdown", T, Throttled),
    ("socketclosedremotely", T, DependencyUnavailable), ("stalenetworkfilehandle", T, DependencyUnavailable),
    ("strongauthrequired", P, Auth), ("throttled", T, Throttled), ("timedout", T, Timeout), ("timelimitexceeded", T, Timeout),
    ("timeout", T, Timeout), ("toomanyrequests", T, Throttled), ("transactionconflict", T, Conflict), ("typeorvalueexists", P, Duplicate),
    ("unauthenticated", P, Auth), ("unauthorizedclient", P, Auth), ("unavailable", T, DependencyUnavailable),
    ("undefinedattributetype", P, SchemaViolation), ("undefinedtype", P, SchemaViolation), ("unexpectedeof", T, DependencyUnavailable),
    ("unexpectedmessage", P, MalformedPayload), ("unknownca", P, Configuration), ("unknownpskidentity", P, Auth),
    ("unrecognizedname", P, Configuration), ("unsupportedcertificate", P, Configuration), ("unsupporteddata", P, SchemaViolation),
    ("unsupportedextension", P, Configuration), ("unsupportedgranttype", P, SchemaViolation), ("unsupportedresponsetype", P, Configuration),
    ("unwillingtoperform", P, Configuration), ("waittimeout", T, Timeout), ("wouldblock", T, Conflict), ("wsaealready", T, Conflict),
    ("wsaeconnaborted", T, DependencyUnavailable), ("wsaeconnrefused", T, DependencyUnavailable),
    ("wsaeconnreset", T, DependencyUnavailable), ("wsaehostdown", T, DependencyUnavailable), ("wsaehostunreach", T, DependencyUnavailable),
    ("wsaeinprogress", T, Conflict), ("wsaenetdown", T, DependencyUnavailable), ("wsaenetreset", T, DependencyUnavailable),
    ("wsaenotconn", T, DependencyUnavailable), ("wsaeshutdown", T, DependencyUnavailable), ("wsaetimedout", T, Timeout),
    ("wsaewouldblock", T, Conflict), ("wsatryagain", T, DependencyUnavailable), ("yxdomain", P, Duplicate), ("yxrrset", P, Duplicate),
];
