/** HTTPS listener of the kubelet API. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import { rejectUpgrade } from '@kruise/client/streaming/upgrade';
import { certificateSubject } from '@kruise/machinery/x509/certificate';
import { type AccessControl, accessOf, type Caller } from './access.ts';
import type { KubeletHandler, KubeletRequest } from './handler.ts';
import { parseRequestTarget } from './request-target.ts';
import { KubeletError } from './view.ts';

/** Options of the listener. */
export type ListenOptions = {
  readonly host: string;
  readonly port: number;
  readonly certificate: string;
  readonly key: string;
  /** CA of client certificates; without it only tokens authenticate. */
  readonly clientAuthority?: string;
  readonly access: AccessControl;
};

/** A listening kubelet API. */
export type ListeningKubelet = {
  readonly port: number;
  /** Replaces the serving certificate. */
  setCertificate(pair: { readonly certificate: string; readonly key: string }): void;
};

/** Serves the kubelet API until the signal is aborted. */
export async function listenKubelet(
  handler: KubeletHandler,
  options: ListenOptions,
  signal: AbortSignal,
): Promise<ListeningKubelet> {
  const { access, clientAuthority } = options;
  const tlsOptions = {
    ...(clientAuthority === undefined ? {} : { ca: clientAuthority, requestCert: true }),
    // Clients without a certificate may authenticate with a token.
    rejectUnauthorized: false,
  };
  const server: Server = createServer({ cert: options.certificate, key: options.key, ...tlsOptions });

  /** Authenticates and authorizes a request; returns the request to dispatch, with the target that was authorized. */
  async function authorize(request: IncomingMessage, disconnected: AbortSignal): Promise<KubeletRequest> {
    const { method = '', url = '', headers, socket } = request;
    const caller = userOfCertificate(socket as TLSSocket) ?? (await userOfToken(headers.authorization));
    if (!caller) throw new KubeletError(401, 'Unauthorized');
    const target = parseRequestTarget(url);
    const wanted = accessOf(method, target);
    if (await access.allows(caller, wanted)) return { method, target, headers, signal: disconnected };
    const subresources = wanted.subresources.join(' ');
    const attributes = `user=${caller.name}, verb=${wanted.verb}, resource=nodes, subresource(s)=[${subresources}]`;
    throw new KubeletError(403, `Forbidden (${attributes})`);
  }

  async function userOfToken(header: string | undefined): Promise<Caller | undefined> {
    const [, token] = /^Bearer (\S+)$/i.exec(header ?? '') ?? [];
    return token === undefined ? undefined : access.callerOf(token);
  }

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const disconnect = new AbortController();
    response.once('close', () => disconnect.abort());
    void (async () => {
      try {
        const { code, headers, body } = await handler.send(await authorize(request, disconnect.signal));
        response.writeHead(code, headers);
        response.flushHeaders();
        await pipeline(body, response);
      } catch (error) {
        if (response.headersSent) {
          response.destroy();
          return;
        }
        const code = error instanceof KubeletError ? error.code : 500;
        response.writeHead(code, { 'content-type': 'text/plain; charset=utf-8' }).end((error as Error).message);
      }
    })();
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const disconnect = new AbortController();
    socket.once('close', () => disconnect.abort());
    socket.on('error', () => socket.destroy());
    const upgrade = { method: request.method ?? '', headers: request.headers, socket, head };
    void authorize(request, disconnect.signal)
      .then((admitted) => handler.upgrade(admitted, upgrade))
      .catch((error: unknown) => {
        rejectUpgrade(upgrade, error instanceof KubeletError ? error.code : 500, (error as Error).message);
      });
  });
  signal.addEventListener(
    'abort',
    () => {
      server.close();
      server.closeAllConnections();
    },
    { once: true },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    setCertificate: ({ certificate, key }) => server.setSecureContext({ cert: certificate, key, ...tlsOptions }),
  };
}

/** Reads the user from a client certificate, as the API server does. */
function userOfCertificate(socket: TLSSocket): Caller | undefined {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  if (!certificate) return undefined;
  try {
    const { commonName, organizations = [] } = certificateSubject(certificate.raw);
    return commonName === '' ? undefined : { name: commonName, groups: [...organizations, 'system:authenticated'] };
  } catch {
    // A certificate whose subject cannot be parsed authenticates no user.
    return undefined;
  }
}
