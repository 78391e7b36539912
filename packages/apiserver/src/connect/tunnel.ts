import { joinSockets } from '@kruise/client/streaming/join';
import { tunnelPrefix } from '@kruise/client/streaming/port-forward';
import { isWebSocket, parseHeaderList, rejectUpgrade, UpgradeRejectedError } from '@kruise/client/streaming/upgrade';
import { acceptWebSocket } from '@kruise/client/streaming/websocket';
import { createWebSocketStream } from 'ws';
import type { HttpRequest } from '../http/http-request.ts';
import { type Backend, hasSwitched } from './backend.ts';
import { relayRefusal, takeUpgrade, upgradeHeaders, upgradeOf } from './forward.ts';

/** Returns the subprotocols that tunnel SPDY in a WebSocket. */
function tunnelled({ headers }: HttpRequest): string[] {
  return parseHeaderList(headers['sec-websocket-protocol'])
    .filter((protocol) => protocol.startsWith(tunnelPrefix) && protocol.endsWith('.k8s.io'))
    .map((protocol) => protocol.slice(tunnelPrefix.length));
}

/** Reports whether a client wants to tunnel SPDY in a WebSocket. */
export function needsTunnel(httpRequest: HttpRequest): boolean {
  return isWebSocket(httpRequest.headers) && tunnelled(httpRequest).length > 0;
}

/** Tunnels SPDY between a kubelet and a client's WebSocket. */
export async function tunnel(httpRequest: HttpRequest, backend: Backend, path: string): Promise<void> {
  const headers = upgradeHeaders(httpRequest);
  for (const name of Object.keys(headers)) if (name.startsWith('sec-websocket-')) delete headers[name];
  const request = {
    method: 'POST',
    path,
    headers: {
      ...headers,
      connection: 'Upgrade',
      upgrade: 'SPDY/3.1',
      'x-stream-protocol-version': tunnelled(httpRequest),
    },
  };
  const answer = await upgradeOf(httpRequest, backend, request);
  const upgrade = takeUpgrade(httpRequest);
  if (!hasSwitched(answer)) return relayRefusal(upgrade.socket, answer);
  if (!String(answer.headers.upgrade).toLowerCase().includes('spdy/3.1')) {
    answer.socket.destroy();
    rejectUpgrade(upgrade, 500, 'unable to upgrade: missing upgrade headers in response');
    return;
  }
  const chosen = answer.headers['x-stream-protocol-version'];
  try {
    const { socket } = await acceptWebSocket(upgrade, [chosen === undefined ? '' : `${tunnelPrefix}${chosen}`]);
    if (answer.head.length > 0) answer.socket.unshift(answer.head);
    await joinSockets(createWebSocketStream(socket), answer.socket);
  } catch (error) {
    answer.socket.destroy();
    if (!(error instanceof UpgradeRejectedError)) throw error;
  }
}
