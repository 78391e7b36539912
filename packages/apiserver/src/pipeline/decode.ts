import { parseYaml } from '@kruise/schema/yaml-text';
import type { Body } from '../handlers/body.ts';
import type { PipelineRequest, Stage } from './request.ts';

/**
 * Reads the body. The handler decodes the bytes with `decodeBody`, because the kind depends on the verb and the
 * subresource, and the treatment of unknown fields on the options. Backends read the body themselves.
 */
export const decode: Stage = {
  name: 'Decode',
  transports: 'all',
  failsWith: [400, 413, 415],
  run(request) {
    if (request.backend) return undefined;
    const pending = request.readBody();
    if (pending instanceof Promise) return pending.then((body) => keep(request, body));
    keep(request, pending);
    return undefined;
  },
};

function keep(request: PipelineRequest, body: Body | undefined): void {
  request.body = body;
  request.record?.request(() => sentValue(body));
}

/** Returns the request object for the audit log; an unparsable body is not recorded. */
function sentValue(body: Body | undefined): unknown {
  if (body?.type === 'value') return body.value;
  if (!body || !/json|yaml|^$/.test(body.contentType)) return undefined;
  try {
    return parseYaml(Buffer.from(body.bytes).toString());
  } catch {
    return undefined;
  }
}
