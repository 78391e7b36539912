/**
 * Kubernetes' sample aggregated API server, simulated by our own API server with the two kinds of that sample. The
 * front proxy authenticates users, and authorization is delegated to the cluster.
 */
import type { Attributes, Authorizer, Decision } from '@kruise/apiserver/authorization/authorizer';
import type { KubeObject } from '@kruise/apiserver/object';
import { fetchUrl } from '../commands/fetch-url.ts';
import type { ProgramContext } from '../program.ts';
import { flag, portOf } from './agnhost-flags.ts';
import { Fatal, inCluster, log, readText, reasonOf } from './in-cluster.ts';

const group = 'wardle.example.com';
const text = { type: 'string' };
const object = (properties: object) => ({ type: 'object', properties });

const definitions: readonly KubeObject[] = [
  definition('Flunder', 'Namespaced', {
    spec: object({ reference: text, referenceType: text }),
    status: object({}),
  }),
  definition('Fischer', 'Cluster', { disallowedFlunders: { type: 'array', items: text } }),
];

export async function sampleApiServer(context: ProgramContext): Promise<number> {
  const { container, process } = context;
  const { clock, random, network } = container;
  const files = { certificate: flag(context, 'tls-cert-file'), key: flag(context, 'tls-private-key-file') };
  let pair: { readonly certificate: string; readonly key: string };
  let frontProxyAuthority: string;
  try {
    pair = { certificate: readText(context, files.certificate ?? ''), key: readText(context, files.key ?? '') };
    frontProxyAuthority = await trustedProxies(context);
  } catch (error) {
    await log(context, `Error: ${reasonOf(error)}`);
    return 1;
  }
  // Imported lazily, because most simulations do not need it.
  const { startServerOf } = await import('./sample-server.ts');
  const server = await startServerOf(definitions, {
    clock,
    random,
    frontProxyAuthority,
    authorizer: delegated(context),
    onError: (error) => void log(context, String(error)),
  });
  try {
    const port = portOf(context, 'secure-port', 443);
    const { accept } = server.serveConnections({ ...pair, address: `${network.address}:${port}` });
    await log(context, `Serving securely on [::]:${port}`);
    return await process.wait<number>((resolve) => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.handle(signal, () => resolve(0));
      return container.listen(port, { connection: accept });
    });
  } finally {
    await server.close();
  }
}

/** Returns the CA of trusted front proxies. */
async function trustedProxies(context: ProgramContext): Promise<string> {
  const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
  const { data } = (await requestJson(context, path)) as { readonly data?: Readonly<Record<string, string>> };
  return data?.['requestheader-client-ca-file'] ?? '';
}

const openPaths: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz']);

/** Returns an authorizer that delegates to the API server of the cluster. */
function delegated(context: ProgramContext): Authorizer {
  return {
    async authorize(attributes): Promise<Decision> {
      const isOpen = !attributes.resource && openPaths.has(attributes.path);
      if (isOpen || attributes.user.groups.includes('system:masters')) return { verdict: 'allow', reason: '' };
      const { status } = (await requestJson(
        context,
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        review(attributes),
      )) as {
        readonly status: { readonly allowed: boolean; readonly denied?: boolean; readonly reason?: string };
      };
      const verdict = status.allowed ? 'allow' : status.denied ? 'deny' : 'no-opinion';
      return { verdict, reason: status.reason ?? '' };
    },
  };
}

function review(attributes: Attributes): object {
  const { user, verb } = attributes;
  const { username, groups, uid, extra } = user;
  const wanted = attributes.resource
    ? {
        resourceAttributes: {
          verb,
          group: attributes.group,
          version: attributes.version,
          resource: attributes.plural,
          subresource: attributes.subresource,
          namespace: attributes.namespace,
          name: attributes.name,
        },
      }
    : { nonResourceAttributes: { verb, path: attributes.path } };
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: username, groups, uid, extra, ...wanted },
  };
}

/** Sends a request to the API server of the cluster. */
async function requestJson(context: ProgramContext, path: string, body?: object): Promise<unknown> {
  const server = inCluster(context);
  const answer = await fetchUrl(context, new URL(path, server.url), {
    ...server,
    ...(body && {
      method: 'POST',
      body: Buffer.from(JSON.stringify(body)),
      headers: [...(server.headers ?? []), ['content-type', 'application/json']],
    }),
  });
  const responseBody = JSON.parse(Buffer.from(answer.body).toString());
  if (answer.status >= 300) throw new Fatal(responseBody.message ?? `status ${answer.status}`);
  return responseBody;
}

function definition(kind: string, scope: string, properties: object): KubeObject {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, listKind: `${kind}List`, singular, plural },
      versions: [{ name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema: object(properties) } }],
    },
  };
}
