/**
 * Members that are null, absent, empty or of another type, at every place of every kind: the API server and
 * kruise-manager's webhooks answer as to any other object, and never with an error of their own.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { customResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { builtinKinds } from '@kruise/api/builtin';
import { certificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import { pod } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import {
  containerRecreateRequest,
  containerRecreateRequestV1alpha1,
} from '@kruise/api/kruise/containerrecreaterequest';
import { kruiseKinds } from '@kruise/api/kruise/crds';
import { createInProcessServers } from '@kruise/apiserver/aggregation/in-process-servers';
import { networkConnector } from '@kruise/apiserver/connect/node-connector';
import { inProcessTransport } from '@kruise/apiserver/in-process';
import { startTestServer, type TestServer, testAdmin } from '@kruise/apiserver/testing/test-server';
import { silentLog } from '@kruise/client/log';
import type { Transport } from '@kruise/client/transport';
import type { Webhook } from '@kruise/client/webhook';
import { isNotFound, StatusError } from '@kruise/machinery/status';
import { createNodeDirectory } from '@kruise/node/node-directory';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { systemClock } from '@kruise/values/system';
import { componentNames } from './component-names.ts';
import { type Components, startComponents } from './components.ts';
import { clusterGates } from './feature-gates.ts';
import { installKruiseKinds, kruiseConverterOf } from './kruise-kinds.ts';
import { fullObject, type Json, type JsonMembers } from './testing/full-object.ts';
import { type MemberPath, memberAt, memberPaths, withMember } from './testing/mutations.ts';
import { validObjects } from './testing/valid-objects.ts';

const kinds = [...builtinKinds, ...kruiseKinds.flatMap(({ stored, older }) => [stored, ...older])].filter(({ verbs }) =>
  verbs.includes('create'),
);
/** Kinds whose rules for Pods all others share. */
const kindsWithFullPods = new Set<Kind>([pod, cloneSet]);
/** Kinds whose valid objects need a signature or a running Pod. */
const kindsWithoutUpdates = new Set<Kind>([
  certificateSigningRequest,
  containerRecreateRequest,
  containerRecreateRequestV1alpha1,
]);

describe('a member that is null, absent, empty or of another type', () => {
  let server: TestServer;
  let components: Components;
  let transport: Transport;
  before(async () => {
    const webhooks = new Map<string, Webhook>();
    const servers = createInProcessServers();
    const directory = createNodeDirectory(networkConnector(systemClock));
    server = await startTestServer({
      nodes: directory,
      inProcessWebhooks: webhooks,
      inProcessServers: servers,
      converterOf: kruiseConverterOf,
    });
    await installKruiseKinds(server.core);
    components = await startComponents({
      core: server.core,
      log: silentLog,
      host: 'test',
      settings: { rootAuthorities: '', clusterRanges: [] },
      webhooks,
      servers,
      nodes: { count: 0, directory },
      gates: clusterGates('ImagePullJobGate=true,ResourceDistributionGate=true'),
      without: componentNames.filter((name) => name !== 'manager'),
    });
    await server.client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
    transport = inProcessTransport(server.core, {
      ...testAdmin,
      groups: [...testAdmin.groups, 'system:authenticated'],
    });
  });
  after(async () => {
    await components.stop();
    await server.close();
  });

  for (const kind of kinds) {
    test(`of a ${idOf(kind)} is answered without an internal error`, async () => {
      const valid = validOf(kind);
      const name = (valid.metadata as JsonMembers)['name'] as string;
      const collection = pathOf(kind);
      const ways: Way[] = [{ method: 'POST', path: collection }];
      if (kind.verbs.includes('update') && !kindsWithoutUpdates.has(kind)) {
        await transport.request({ method: 'POST', path: collection, body: valid });
        ways.push({ method: 'PUT', path: `${collection}/${name}` });
        if (kind.subresources.includes('status')) ways.push({ method: 'PUT', path: `${collection}/${name}/status` });
      }
      // One example of each fault is enough: hundreds of mutants may hit the same.
      const failures = new Map<string, string>();
      let count = 0;
      for (const [what, mutant] of mutantsOf(kind, valid)) {
        const { method, path } = ways[count++ % ways.length]!;
        // A definition has the name of its resource.
        const isRenamed = method === 'POST' && kind !== customResourceDefinition;
        const body = isRenamed ? withMember(mutant, ['metadata', 'name'], `x-${name}`) : mutant;
        const failure = await failureOf(() => transport.request({ method, path, query: { dryRun: 'All' }, body }));
        if (failure && !failures.has(failure)) failures.set(failure, `${method} ${path}, ${what}`);
      }
      // Other versions of the kind would conflict with it. A controller may have deleted it by now.
      if (ways.length > 1) {
        await transport.request({ method: 'DELETE', path: `${collection}/${name}` }).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
      }
      assert.deepEqual([...failures], []);
    });
  }
});

type Way = { readonly method: 'POST' | 'PUT'; readonly path: string };

function idOf({ kind, version, group }: Kind): string {
  return `${kind}.${version}.${group}`;
}

function validOf(kind: Kind): JsonMembers {
  const { metadata, ...members } = validObjects[idOf(kind)] ?? validObjects[idOf({ ...kind, version: 'v1beta1' })]!;
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { name: `valid-${kind.version}`, ...(metadata as JsonMembers | undefined) },
    ...members,
  };
}

function pathOf({ group, version, plural, scope }: Kind): string {
  const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${prefix}${scope === 'Namespaced' ? '/namespaces/default' : ''}/${plural}`;
}

const wrongValues: readonly Json[] = [null, {}, [], [null], { a: null }, '', 0, 'a', true];

/** Returns objects that differ from a full or from a valid one in a single member, with what differs. */
function* mutantsOf(kind: Kind, valid: JsonMembers): Generator<readonly [what: string, object: Json]> {
  const { metadata, ...members } = fullObject(kind, { hasFullPods: kindsWithFullPods.has(kind) });
  const name = { ...(metadata as JsonMembers), ...(valid['metadata'] as JsonMembers) };
  const full: JsonMembers = { ...members, metadata: name };
  yield ['everything set', full];
  let count = 0;
  for (const path of memberPaths(full)) {
    if (path[0] === 'apiVersion' || path[0] === 'kind') continue;
    const place = path.join('.');
    // Members that exclude each other are sent alone. A null member may be a pointer that stays null, or have members.
    for (const value of path.length > 1 ? [null, {}] : [null]) {
      const object = withMember(
        valid,
        path.slice(0, -1),
        path.length > 1 ? aloneAt(path, value) : { ...valid, [path[0]!]: value },
      );
      yield [`only ${place}: ${JSON.stringify(value)}`, object];
    }
    // All nine values at every place would take minutes; neighbours get different ones.
    const value = wrongValues[count % wrongValues.length]!;
    switch (count++ % 4) {
      case 0:
        yield [`${place} removed`, withMember(full, path, undefined)];
        break;
      case 1:
        yield [`${place} added`, withMember(valid, path, memberAt(full, path)!)];
        break;
      case 2:
        yield [`${place} of all: ${JSON.stringify(value)}`, withMember(full, path, value)];
        break;
      default:
        yield [`${place}: ${JSON.stringify(value)}`, withMember(valid, path, value)];
    }
  }
}

function aloneAt(path: MemberPath, value: Json): Json {
  const last = path.at(-1)!;
  return typeof last === 'number' ? [value] : { [last]: value };
}

/** Answers of 500 that Kubernetes' own binding of Pods and some of OpenKruise's webhooks give for refusals. */
function isIntended({ message }: StatusError): boolean {
  return message.includes('denied the request: ') || /^\[?target\.(kind|name): /.test(message);
}

async function failureOf(send: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await send();
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error.code === 500 && !isIntended(error) ? error.message : undefined;
    return error instanceof Error ? (error.stack ?? error.message).split('\n').slice(0, 3).join(' ') : String(error);
  }
}
