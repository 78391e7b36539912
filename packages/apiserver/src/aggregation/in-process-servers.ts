/** In-process API servers: an APIService refers to them as to any other server, but requests need no socket. */
import { Readable } from 'node:stream';
import { failure, StatusError } from '@kruise/machinery/status';
import type { Backend } from '../connect/backend.ts';
import { unknownResource } from '../handlers/http-errors.ts';
import { hasDotSegment, splitTarget } from '../url-path.ts';

/** Request to an in-process server. The path is the one that was authorized, and has no dot segments. */
export type InProcessRequest = {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Accepted media types, as in the Accept header. */
  readonly accept: string;
};

/** In-process API server that serves reads. */
export type InProcessServer = {
  /** Returns the response to a GET. Throws a `StatusError` on failure. */
  get(request: InProcessRequest): Promise<unknown>;
};

/** In-process servers by the Service that their APIServices reference: `namespace/name`. The Service need not exist. */
export type InProcessServers = {
  add(service: string, server: InProcessServer): void;
  get(service: string): InProcessServer | undefined;
  /** Calls back whenever a server is added. */
  follow(added: () => void): void;
};

/** Creates an empty registry of in-process servers. */
export function createInProcessServers(): InProcessServers {
  const servers = new Map<string, InProcessServer>();
  const followers: (() => void)[] = [];
  return {
    add(service, server) {
      servers.set(service, server);
      for (const added of followers) added();
    },
    get: (service) => servers.get(service),
    follow: (added) => void followers.push(added),
  };
}

/** Adapts an in-process server to a backend. */
export function backendOf(server: InProcessServer, name: string): Backend {
  const send: Backend['send'] = async ({ method, path, headers }) => {
    const target = splitTarget(path);
    const accept = [headers.accept].flat().join(',');
    const { code, object } = await toResponse(() => {
      if (method !== 'GET') throw new StatusError(methodNotAllowed(method));
      // No resource has such a name, and resolving the dots would lead to a path that was not authorized.
      if (hasDotSegment(target.path)) throw unknownResource();
      return server.get({ path: target.path, query: new URLSearchParams(target.query), accept });
    });
    const body = Readable.from([Buffer.from(JSON.stringify(object))]);
    return { code, reason: '', headers: { 'content-type': 'application/json' }, body };
  };
  return { url: `https://${name}`, send, upgrade: send };
}

async function toResponse(get: () => Promise<unknown>): Promise<{ readonly code: number; readonly object: unknown }> {
  try {
    return { code: 200, object: await get() };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return { code: error.code, object: error.status };
  }
}

function methodNotAllowed(method: string) {
  const message = `the server does not allow this method on the requested resource: ${method}`;
  return failure({ code: 405, reason: 'MethodNotAllowed', message });
}
