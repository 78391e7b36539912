import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Secret } from '@kruise/api/core/secret';
import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import { flattenSteps, type Step } from '@kruise/client/actions';
import { copy, job, nodeImage, secret, settings } from './fixtures.ts';
import { claimSecrets, releaseSecrets } from './secrets.ts';

const observed = (of: ImagePullJob, copies: readonly Secret[], sources: readonly Secret[] = [secret('key')]) => ({
  job: of,
  nodeImages: [nodeImage('a')],
  copies,
  findSecret: (name: string) => sources.find(({ metadata }) => metadata.name === name),
});
const users = ({ metadata }: Secret) => metadata.annotations?.['imagepulljobs.kruise.io/references'];
function formatActions(steps: readonly Step[]): readonly string[] {
  return flattenSteps(steps).map((action) => {
    if (!('object' in action)) return action.type;
    const what = `${action.type} ${action.object.metadata.name}`;
    return action.type === 'update' ? `${what} for ${users(action.object as Secret)}` : what;
  });
}

const pulling = job({ pullSecrets: ['key'] });
const cases: {
  name: string;
  job?: ImagePullJob;
  copies: readonly Secret[];
  sources?: readonly Secret[];
  does: readonly string[];
  uses: readonly string[];
}[] = [
  { name: 'a Secret is copied once', copies: [], does: ['create key-7ba89e'], uses: ['key-7ba89e batch'] },
  {
    name: 'a copy that another job uses is shared',
    copies: [copy('key-1', 'default/key', ['default/a'])],
    does: ['update key-1 for default/a,default/pull'],
    uses: ['key-1 batch'],
  },
  {
    name: 'a copy that the job already uses is not changed',
    copies: [copy('key-1', 'default/key', ['default/pull'])],
    does: [],
    uses: ['key-1 batch'],
  },
  {
    name: 'a copy follows its source',
    copies: [copy('key-1', 'default/key', ['default/pull'])],
    sources: [secret('key', {}, { a: 'Yw==' })],
    does: ['update key-1 for default/pull'],
    uses: ['key-1 batch'],
  },
  {
    name: 'the first of several copies by name is used',
    copies: ['c', 'a', 'b'].map((name) => copy(name, 'default/key', [])),
    does: ['update a for default/pull'],
    uses: ['a batch'],
  },
  {
    name: 'the last of several copies in use by name is kept',
    copies: ['c', 'a', 'b'].map((name) => copy(name, 'default/key', name === 'c' ? [] : ['default/pull'])),
    does: [],
    uses: ['b batch'],
  },
  {
    name: 'a copy of another source is released',
    copies: [copy('key-1', 'default/key', ['default/pull']), copy('old-1', 'default/old', ['default/pull', 'x/y'])],
    does: ['update old-1 for x/y'],
    uses: ['key-1 batch'],
  },
  {
    name: 'a terminating copy is ignored, and its name is taken',
    copies: [copy('key-7ba89e', 'default/key', ['default/pull'], { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    does: ['create key-7ca8a0'],
    uses: ['key-7ca8a0 batch'],
  },
  {
    name: 'a Secret without a source annotation is not a copy',
    copies: [secret('foreign', { namespace: settings.daemonConfigNamespace })],
    does: ['create key-7ba89e'],
    uses: ['key-7ba89e batch'],
  },
  { name: 'a missing Secret is skipped', copies: [], sources: [], does: [], uses: [] },
  {
    name: 'a job without Secrets needs no action',
    job: job(),
    copies: [copy('a', 'default/x', ['default/pull'])],
    does: [],
    uses: [],
  },
  {
    name: "in the daemon's namespace nothing is copied",
    job: job({ pullSecrets: ['key'] }, { metadata: { namespace: settings.daemonConfigNamespace } }),
    copies: [],
    does: [],
    uses: ['key'],
  },
];
for (const { name, job: of = pulling, copies, sources, does, uses } of cases) {
  test(name, () => {
    const { actions, references } = claimSecrets(observed(of, copies, sources), settings);
    assert.deepEqual(formatActions(actions), does);
    assert.deepEqual(
      references.map((each) => [each.name, ...(each.mode ? [each.mode] : [])].join(' ')),
      uses,
    );
  });
}

test('a copy has the content of its source, and names its source and jobs', () => {
  const source = secret('key', { labels: { l: '1' }, annotations: { a: '2' } });
  const [action] = claimSecrets(observed(pulling, [], [source]), settings).actions;
  assert.ok(action?.type === 'create');
  assert.deepEqual(action.object, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      namespace: 'kruise-daemon-config',
      name: 'key-7ba89e',
      labels: { l: '1' },
      annotations: {
        a: '2',
        'imagepulljobs.kruise.io/source-key': 'default/key',
        'imagepulljobs.kruise.io/references': 'default/pull',
        'imagepulljobs.kruise.io/mode': 'batch',
      },
    },
    type: 'Opaque',
    data: source.data,
  });
});

const releases: { name: string; job?: ImagePullJob; copies: readonly Secret[]; does: readonly string[] }[] = [
  { name: 'the last job deletes the copy', copies: [copy('a', 's', ['default/pull'])], does: ['remove a'] },
  {
    name: 'a copy that others use stays',
    copies: [copy('a', 's', ['default/pull', 'x/y', 'nonsense'])],
    does: ['update a for x/y'],
  },
  { name: 'a copy of other jobs is not changed', copies: [copy('a', 's', ['x/y'])], does: [] },
  {
    name: 'a terminating copy is not changed',
    copies: [copy('a', 's', ['default/pull'], { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    does: [],
  },
  {
    name: "Secrets in the daemon's namespace are not deleted",
    job: job({}, { metadata: { namespace: settings.daemonConfigNamespace } }),
    copies: [copy('a', 's', ['kruise-daemon-config/pull'])],
    does: [],
  },
];
for (const { name, job: of = job(), copies, does } of releases) {
  test(name, () => assert.deepEqual(formatActions(releaseSecrets(observed(of, copies), settings)), does));
}

test('a copy is deleted with a resourceVersion precondition, as another job may start to use it', () => {
  const [action] = releaseSecrets(observed(job(), [copy('a', 's', ['default/pull'])]), settings);
  assert.deepEqual(action?.type === 'remove' && action.options, { preconditions: { resourceVersion: '1' } });
});
