import { unauthorized } from '@kruise/machinery/status';
import type { RequestContext } from '../context.ts';
import { attemptedMethods } from '../http/origin.ts';
import { isLongRunning } from '../metrics/server-metrics.ts';
import { requestInfo } from '../request-info.ts';
import type { User } from '../user.ts';
import type { HttpPipelineRequest } from './http-pipeline.ts';
import type { Stage } from './request.ts';

/** Finds the user who sent the request, and parses the method, path and query: nothing else is read yet. */
export const authenticate: Stage<HttpPipelineRequest> = {
  name: 'Authenticate',
  transports: 'HTTP',
  failsWith: [400, 401],
  async run(request) {
    const sender = await senderOf(request);
    request.context = contextOf(request, sender);
    request.begin(isLongRunning(request.context.info));
  },
};

const unauthenticatedUser: User = { username: '', groups: [] };

async function senderOf(request: HttpPipelineRequest): Promise<User> {
  const { httpRequest, core, parts } = request;
  try {
    const sender = await parts.authenticator.authenticate(httpRequest);
    if (sender) return sender;
    throw unauthorized();
  } catch (error) {
    core.controls.audit?.unknown({
      context: contextOf(request, unauthenticatedUser),
      origin: () => request.origin(),
      why: attemptedMethods(httpRequest),
    });
    throw error;
  }
}

function contextOf({ httpRequest, core }: HttpPipelineRequest, user: User): RequestContext {
  const { method, rawPath, query, headers, signal } = httpRequest;
  return {
    info: requestInfo(method, rawPath, query),
    query,
    user,
    userAgent: textOf(headers['user-agent']),
    clock: core.clock,
    random: core.random,
    signal,
    warnings: new Set(),
    auditAnnotations: new Map(),
  };
}

/** Decodes a header as UTF-8, as Kubernetes does; Node.js decodes headers as Latin-1. */
function textOf(header: string | undefined): string {
  if (header === undefined) return '';
  return /[\x80-\xff]/.test(header) ? Buffer.from(header, 'latin1').toString() : header;
}
