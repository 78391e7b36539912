import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Secret } from '@kruise/api/core/secret';
import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import type { NodeImage } from '@kruise/api/kruise/nodeimage';
import { flattenSteps } from '@kruise/client/actions';
import type { JsonObject } from '@kruise/machinery/json-value';
import { applyMergePatch } from '@kruise/machinery/merge-patch';
import fc from 'fast-check';
import { pullPolicyFor, specFor } from './add-image.ts';
import { decide, type Observed } from './decide.ts';
import {
  ago,
  copy,
  image,
  job,
  nodeImage,
  nodeImageWithTag,
  nodeStatus,
  now,
  owner,
  secret,
  settings,
} from './fixtures.ts';

const observed = (of: ImagePullJob, nodeImages: readonly NodeImage[], copies: readonly Secret[] = []): Observed => ({
  job: of,
  nodeImages,
  copies,
  findSecret: (name) => (name === 'key' ? secret('key') : undefined),
});
const look = (of: ImagePullJob, nodeImages: readonly NodeImage[], copies?: readonly Secret[]) =>
  decide(observed(of, nodeImages, copies), settings, now);
function formatDecision({ actions, requeueAfterSeconds: wait }: ReturnType<typeof decide>): readonly string[] {
  const did = flattenSteps(actions).map((action) =>
    'object' in action ? `${action.type} ${action.object.kind} ${action.object.metadata.name}` : action.type,
  );
  return wait === undefined ? did : [...did, `wait ${wait}`];
}
const three = ['c', 'a', 'b'].map((name) => nodeImage(name));
const completed = { status: { completionTime: ago(10) } };

const steps: {
  name: string;
  job: ImagePullJob;
  nodes: readonly NodeImage[];
  copies?: readonly Secret[];
  does: string[];
}[] = [
  {
    name: 'one NodeImage is updated at a time, the first by name',
    job: job(),
    nodes: three,
    does: ['patch NodeImage a'],
  },
  {
    name: 'as many NodeImages are updated as parallelism allows',
    job: job({ parallelism: '2' }),
    nodes: three,
    does: ['patch NodeImage a', 'patch NodeImage b'],
  },
  { name: 'a parallelism of 0 updates no NodeImage', job: job({ parallelism: 0 }), nodes: three, does: [] },
  { name: 'pulling nodes count', job: job(), nodes: [nodeImageWithTag('a', 'Pulling'), nodeImage('b')], does: [] },
  {
    name: 'finished nodes make room',
    job: job(),
    nodes: [nodeImageWithTag('a', 'Succeeded'), nodeImageWithTag('b', 'Failed'), nodeImage('c')],
    does: ['patch NodeImage c'],
  },
  {
    name: 'the finalizer is added first',
    job: job({}, { metadata: { finalizers: [] } }),
    nodes: [nodeImage('a')],
    does: ['patch ImagePullJob pull', 'patch NodeImage a'],
  },
  {
    name: 'Secrets are copied before NodeImages are updated',
    job: job({ pullSecrets: ['key'] }),
    nodes: [nodeImage('a')],
    does: ['create Secret key-7ba89e', 'patch NodeImage a'],
  },
  {
    name: 'a NodeImage without the Secret is updated within parallelism',
    job: job({ pullSecrets: ['key'], parallelism: 2 }),
    nodes: [nodeImageWithTag('a', 'Pulling')],
    copies: [copy('key-1', 'default/key', ['default/pull'])],
    does: ['patch NodeImage a'],
  },
  { name: 'an invalid image is ignored', job: job({ image: 'A' }), nodes: three, does: [] },
  {
    name: 'a job is requeued for its deadline',
    job: job({ completionPolicy: { type: 'Always', activeDeadlineSeconds: 60 } }, { status: { startTime: ago(20) } }),
    nodes: [nodeImageWithTag('a', 'Pulling')],
    does: ['wait 40'],
  },
  {
    name: 'a job past its deadline updates no NodeImage',
    job: job({ completionPolicy: { type: 'Always', activeDeadlineSeconds: 60 } }, { status: { startTime: ago(60) } }),
    nodes: three,
    does: [],
  },
  {
    name: 'a finished job releases its Secrets and its finalizer',
    job: job({}, completed),
    nodes: three,
    copies: [copy('a', 's', ['default/pull'])],
    does: ['remove Secret a', 'patch ImagePullJob pull'],
  },
  {
    name: 'a finished job is kept for its TTL',
    job: job(
      { completionPolicy: { type: 'Always', ttlSecondsAfterFinished: 15 } },
      { ...completed, metadata: { finalizers: [] } },
    ),
    nodes: three,
    does: ['wait 5'],
  },
  {
    name: 'a finished job is deleted after its TTL',
    job: job(
      { completionPolicy: { type: 'Always', ttlSecondsAfterFinished: 10 } },
      { ...completed, metadata: { finalizers: [] } },
    ),
    nodes: three,
    does: ['remove ImagePullJob pull'],
  },
  {
    name: 'a terminating job keeps its finalizer while it releases Secrets',
    job: job({}, { metadata: { deletionTimestamp: ago(1) } }),
    nodes: three,
    copies: [copy('a', 's', ['default/pull'])],
    does: ['remove Secret a', 'wait 1'],
  },
  {
    name: 'a terminating job without Secrets loses its finalizer',
    job: job({}, { metadata: { deletionTimestamp: ago(1) } }),
    nodes: three,
    copies: [copy('a', 's', ['default/other'])],
    does: ['patch ImagePullJob pull'],
  },
  {
    name: 'a released job does nothing',
    job: job({}, { metadata: { deletionTimestamp: ago(1), finalizers: ['other'] } }),
    nodes: three,
    copies: [copy('a', 's', ['default/pull'])],
    does: [],
  },
];
for (const { name, job: of, nodes, copies, does } of steps) {
  test(name, () => assert.deepEqual(formatDecision(look(of, nodes, copies)), does));
}

const startTime = ago(0);
const statuses: {
  name: string;
  job?: ImagePullJob;
  nodes: readonly NodeImage[];
  copies?: readonly Secret[];
  status: unknown;
}[] = [
  {
    name: 'a job completes when every node has',
    nodes: [nodeImageWithTag('a', 'Succeeded'), nodeImageWithTag('b', 'Succeeded')],
    status: {
      startTime,
      completionTime: ago(0),
      desired: 2,
      active: 0,
      succeeded: 2,
      failed: 0,
      message: 'job has completed',
    },
  },
  {
    name: 'nodes are counted by their reported phase',
    nodes: [
      nodeImageWithTag('node1', 'Succeeded'),
      nodeImageWithTag('node2', 'Pulling'),
      nodeImageWithTag('node3', 'Failed'),
    ],
    status: {
      startTime,
      desired: 3,
      active: 1,
      succeeded: 1,
      failed: 1,
      message: 'job is running, progress 66.7%',
      failedNodes: ['node3'],
    },
  },
  {
    name: 'the status of another version does not count',
    nodes: [
      nodeImage('a', { tags: [{ tag: 'v1', version: 1, ownerReferences: [owner('u')] }] }, [
        { tag: 'v1', phase: 'Succeeded' },
      ]),
    ],
    status: { startTime, desired: 1, active: 1, succeeded: 0, failed: 0, message: 'job is running, progress 0.0%' },
  },
  {
    name: 'the status of another tag does not count',
    nodes: [
      nodeImage('a', { tags: [{ tag: 'v1', ownerReferences: [owner('u')] }] }, [{ tag: 'v2', phase: 'Succeeded' }]),
    ],
    status: { startTime, desired: 1, active: 1, succeeded: 0, failed: 0, message: 'job is running, progress 0.0%' },
  },
  {
    name: 'a node that pulls for another job is not active',
    nodes: [nodeImageWithTag('a', 'Succeeded', { ownerReferences: [owner('other')] })],
    status: { startTime, desired: 1, active: 0, succeeded: 0, failed: 0, message: 'job is running, progress 0.0%' },
  },
  {
    name: 'a node without the Secret is active all the same',
    job: job({ pullSecrets: ['key'] }),
    nodes: [nodeImageWithTag('a')],
    status: { startTime, desired: 1, active: 1, succeeded: 0, failed: 0, message: 'job is running, progress 0.0%' },
  },
  {
    name: 'a job without nodes completes',
    nodes: [],
    status: {
      startTime,
      completionTime: ago(0),
      desired: 0,
      active: 0,
      succeeded: 0,
      failed: 0,
      message: 'job has completed',
    },
  },
  {
    name: 'a job with the policy Never waits for nodes',
    job: job({ completionPolicy: { type: 'Never' } }),
    nodes: [],
    status: { startTime, desired: 0, active: 0, succeeded: 0, failed: 0, message: 'job is running, no progress' },
  },
  {
    name: 'past the deadline all unfinished nodes have failed, each counted once',
    job: job(
      { pullSecrets: ['key'], completionPolicy: { type: 'Always', activeDeadlineSeconds: 60 } },
      { status: { startTime: ago(60) } },
    ),
    nodes: [
      nodeImageWithTag('d', 'Succeeded'),
      nodeImageWithTag('c', 'Pulling'),
      nodeImage('b'),
      nodeImageWithTag('a', 'Failed'),
    ],
    status: {
      startTime: ago(60),
      completionTime: ago(0),
      desired: 4,
      active: 0,
      succeeded: 1,
      failed: 3,
      message: 'job exceeds activeDeadlineSeconds',
      failedNodes: ['a', 'b', 'c'],
    },
  },
];
for (const { name, job: of = job(), nodes, copies, status } of statuses) {
  test(name, () => assert.deepEqual(look(of, nodes, copies).status, status));
}

const batch = { namespace: 'kruise-daemon-config', name: 'key-1', mode: 'batch' };
const startPull = (node: NodeImage, secrets = [batch], of = job()) =>
  specFor({ job: of, image, nodeImage: node, secrets, settings, now });

test('a new tag has the first version and the pull policy', () => {
  const spec = startPull(
    nodeImage('a'),
    [batch],
    job({ imagePullPolicy: 'Always', sandboxConfig: { labels: { l: '1' } } }),
  );
  assert.deepEqual(spec, {
    pullSecrets: [batch],
    tags: [
      {
        tag: 'v1',
        createdAt: ago(0),
        ownerReferences: [owner('u')],
        pullPolicy: pullPolicyFor(job(), settings),
        imagePullPolicy: 'Always',
      },
    ],
    sandboxConfig: { labels: { l: '1' } },
  });
});

test('an up-to-date NodeImage is not changed', () => {
  const node = nodeImage('a', { ...nodeImageWithTag('a').spec.images!['app']!, pullSecrets: [batch] });
  assert.equal(startPull(node), node.spec.images?.['app']);
});

test('a Secret is added without a new version', () => {
  const { pullSecrets, tags } = startPull(nodeImageWithTag('a', 'Pulling', { version: 2 }));
  assert.deepEqual({ pullSecrets, version: tags[0]?.version }, { pullSecrets: [batch], version: 2 });
});

test('a tag of another job is shared, with a new version and the union of pull secrets', () => {
  const other = { namespace: 'kruise-daemon-config', name: 'other' };
  const node = nodeImage('a', {
    tags: [{ tag: 'v1', version: 3, ownerReferences: [owner('x')] }],
    pullSecrets: [other],
  });
  const { pullSecrets, tags } = startPull(node);
  assert.deepEqual(pullSecrets, [other, batch]);
  assert.deepEqual(tags, [{ tag: 'v1', version: 4, ownerReferences: [owner('x'), owner('u')], createdAt: ago(0) }]);
});

test('a tag with an earlier status starts after its last version', () => {
  const node = nodeImage('a', undefined, [{ tag: 'v1', phase: 'Succeeded', version: 5 }]);
  assert.equal(startPull(node).tags[0]?.version, 6);
});

test('tags are sorted', () => {
  const node = nodeImage('a', { tags: [{ tag: 'v0' }, { tag: 'v2' }] });
  assert.deepEqual(
    startPull(node).tags.map(({ tag }) => tag),
    ['v0', 'v1', 'v2'],
  );
});

const policies: { of: string; spec: Partial<ImagePullJob['spec']>; from: number; to: number; deadline?: number }[] = [
  { of: 'a job with defaults', spec: {}, from: 2100, to: 2399 },
  {
    of: 'a job with a TTL',
    spec: { completionPolicy: { type: 'Always', ttlSecondsAfterFinished: 10, activeDeadlineSeconds: 900 } },
    from: 310,
    to: 609,
    deadline: 900,
  },
  {
    of: 'a job with a deadline',
    spec: { completionPolicy: { type: 'Always', activeDeadlineSeconds: 900 } },
    from: 1200,
    to: 1499,
    deadline: 900,
  },
  {
    of: 'a job with a backoff limit',
    spec: { pullPolicy: { timeoutSeconds: 60, backoffLimit: 2 } },
    from: 420,
    to: 719,
  },
  {
    of: 'a job that never completes',
    spec: { completionPolicy: { type: 'Never' } },
    from: 85_800,
    to: 86_999,
    deadline: 1800,
  },
  {
    of: 'a job that never completes and has a long timeout',
    spec: { completionPolicy: { type: 'Never' }, pullPolicy: { timeoutSeconds: 3600 } },
    from: 85_800,
    to: 86_999,
    deadline: 3600,
  },
];
for (const { of, spec, from, to, deadline } of policies) {
  test(`tags of ${of} are kept for ${from} to ${to} s`, () => {
    fc.assert(
      fc.property(fc.uuid(), (uid) => {
        const policy = pullPolicyFor(job(spec, { metadata: { uid } }), settings);
        const { ttlSecondsAfterFinished: kept = 0 } = policy;
        assert.ok(kept >= from && kept <= to, `${kept}`);
        assert.equal(policy.activeDeadlineSeconds, deadline);
      }),
    );
  });
}

test('never more nodes than parallelism are active, and every node finishes', () => {
  const scenario = fc.record({
    count: fc.integer({ min: 0, max: 8 }),
    parallelism: fc.integer({ min: 1, max: 4 }),
    failing: fc.func(fc.boolean()),
  });
  fc.assert(
    fc.property(scenario, ({ count, parallelism, failing }) => {
      let of = job({ parallelism, pullSecrets: ['key'] });
      let nodes = Array.from({ length: count }, (_, index) => nodeImage(`node-${index}`));
      for (let pass = 0; pass <= 2 * count + 1 && of.status?.completionTime == null; pass++) {
        const { actions, status } = look(of, nodes, [copy('key-1', 'default/key', ['default/pull'])]);
        for (const action of flattenSteps(actions)) {
          if (action.type !== 'patch') continue;
          const patched = (node: NodeImage) =>
            node.metadata.name === action.object.metadata.name
              ? (applyMergePatch(node as unknown as JsonObject, action.patch) as unknown as NodeImage)
              : node;
          nodes = nodes.map(patched);
        }
        of = { ...of, ...(typeof status === 'object' ? { status } : {}) };
        const working = nodes.filter((node) => node.spec.images && !node.status);
        assert.ok(working.length <= parallelism);
        const [first] = working;
        nodes = nodes.map((node) =>
          node === first ? { ...node, ...answer(node, failing(node.metadata.name) ? 'Failed' : 'Succeeded') } : node,
        );
      }
      assert.equal((of.status?.succeeded ?? 0) + (of.status?.failed ?? 0), count);
      assert.equal(of.status?.message, 'job has completed');
    }),
  );
});

function answer(node: NodeImage, phase: 'Failed' | 'Succeeded'): Pick<NodeImage, 'status'> {
  const version = node.spec.images?.['app']?.tags[0]?.version ?? 0;
  return { status: nodeStatus([{ tag: 'v1', phase, version }]) };
}
