import { isUpgrade, parseHeaderList, rejectUpgrade, type Upgrade, writeHead } from './upgrade.ts';

/** Accepts an upgrade to SPDY with the first protocol of the client that is supported; throws if there is none. */
export function acceptSpdy(upgrade: Upgrade, supported: readonly string[]): string {
  const { headers, socket } = upgrade;
  if (!isUpgrade(headers) || !headers.upgrade?.toLowerCase().includes('spdy/3.1')) {
    throw rejectUpgrade(upgrade, 400, 'unable to upgrade: missing upgrade headers in request');
  }
  const offered = parseHeaderList(headers['x-stream-protocol-version']);
  if (offered.length === 0) {
    throw rejectUpgrade(upgrade, 400, 'unable to upgrade: X-Stream-Protocol-Version is required');
  }
  const chosen = offered.find((each) => supported.includes(each));
  if (chosen === undefined) {
    const message = `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(' ')}], server accepts [${supported.join(' ')}]`;
    throw rejectUpgrade(upgrade, 403, message, { 'X-Accepted-Stream-Protocol-Versions': supported });
  }
  writeHead(socket, 101, {
    Connection: 'Upgrade',
    Upgrade: 'SPDY/3.1',
    'X-Stream-Protocol-Version': chosen,
  });
  return chosen;
}
