/** Connection and request errors in Go's wording: users search for these texts in logs and events. */

/** Returns the reason of a connection failure. `name` is the required name of the server certificate. */
export function connectionError(error: Error, name: string, nowMs: number): string {
  const { code, address, port, hostname, cert, syscall } = error as ConnectionError;
  const dial = `dial tcp ${address?.includes(':') ? `[${address}]` : address}:${port}`;
  switch (code) {
    case 'ECONNREFUSED':
      return `${dial}: connect: connection refused`;
    case 'EHOSTUNREACH':
      return `${dial}: connect: no route to host`;
    case 'ENETUNREACH':
      return `${dial}: connect: network is unreachable`;
    case 'ETIMEDOUT':
      return `${dial}: i/o timeout`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${hostname}: no such host`;
    case 'ECONNRESET':
      // Go distinguishes a connection that was reset from one that was closed before any response.
      return syscall === 'read' ? 'read: connection reset by peer' : 'EOF';
    case 'ABORT_ERR':
      return 'context canceled';
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return 'http: server gave HTTP response to HTTPS client';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `${unverified}: ${wrongName(cert?.subjectaltname, name)}`;
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `${unverified}: x509: certificate has expired or is not yet valid: current time ${seconds(nowMs)} is ${code === 'CERT_HAS_EXPIRED' ? `after ${seconds(Date.parse(cert?.valid_to ?? ''))}` : `before ${seconds(Date.parse(cert?.valid_from ?? ''))}`}`;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'CERT_SIGNATURE_FAILURE':
      return `${unverified}: x509: certificate signed by unknown authority`;
    default:
      return error.message;
  }
}

type ConnectionError = NodeJS.ErrnoException & {
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
  readonly cert?: { readonly subjectaltname?: string; readonly valid_from?: string; readonly valid_to?: string };
};

const unverified = 'tls: failed to verify certificate';

function wrongName(names: string | undefined, wanted: string): string {
  const ofType = (type: string) =>
    (names ?? '')
      .split(', ')
      .filter((each) => each.startsWith(`${type}:`))
      .map((each) => each.slice(type.length + 1));
  const isAddress = /^[0-9.]+$|:/.test(wanted);
  const valid = isAddress ? ofType('IP Address') : ofType('DNS');
  if (valid.length > 0) return `x509: certificate is valid for ${valid.join(', ')}, not ${wanted}`;
  return isAddress
    ? `x509: cannot validate certificate for ${wanted} because it doesn't contain any IP SANs`
    : `x509: certificate is not valid for any names, but wanted to match ${wanted}`;
}

function seconds(ms: number): string {
  return Number.isNaN(ms) ? '' : `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

const known: { readonly [status: number]: string } = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** Returns the error for a status other than success. `said` is the body, if it is text. */
export function statusError(status: number, body: string): string {
  if (known[status]) return known[status];
  if (status === 403) return `forbidden: ${body}`;
  if (status >= 500)
    return `an error on the server (${JSON.stringify(body)}) has prevented the request from succeeding`;
  return `the server responded with the status code ${status} but did not return more information`;
}
