import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderConfigError, parseProviderConfig } from './provider-config.ts';

const valid = {
  name: 'ecr',
  matchImages: ['*.dkr.ecr.*.amazonaws.com'],
  defaultCacheDuration: '12h',
  apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
};
const config = (...providers: readonly unknown[]) => ({
  apiVersion: 'kubelet.config.k8s.io/v1',
  kind: 'CredentialProviderConfig',
  providers,
});
const faultsOf = (content: unknown): readonly string[] => {
  try {
    parseProviderConfig(typeof content === 'string' ? content : JSON.stringify(content), '/c.yaml');
    return [];
  } catch (error) {
    assert.ok(error instanceof ProviderConfigError);
    return error.faults;
  }
};

test('a YAML configuration is parsed', () => {
  const text = `
apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
- name: ecr
  matchImages: ["*.dkr.ecr.*.amazonaws.com", "registry.io:5000/team"]
  defaultCacheDuration: 1h30m
  apiVersion: credentialprovider.kubelet.k8s.io/v1
  args: [get]
  env:
  - name: AWS_PROFILE
    value: nodes
`;
  assert.deepEqual(parseProviderConfig(text, '/c.yaml'), [
    {
      name: 'ecr',
      matchImages: ['*.dkr.ecr.*.amazonaws.com', 'registry.io:5000/team'],
      defaultCacheMs: 5_400_000,
      apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
      args: ['get'],
      env: [{ name: 'AWS_PROFILE', value: 'nodes' }],
    },
  ]);
});

for (const version of ['v1', 'v1beta1', 'v1alpha1']) {
  test(`version ${version} of the configuration and of the plugins is accepted`, () => {
    const provider = { ...valid, apiVersion: `credentialprovider.kubelet.k8s.io/${version}` };
    assert.deepEqual(faultsOf({ ...config(provider), apiVersion: `kubelet.config.k8s.io/${version}` }), []);
  });
}

const rows: readonly (readonly [title: string, content: unknown, fault: RegExp])[] = [
  ['text that is no YAML', 'a: [hunter2', /^the file is neither valid YAML nor valid JSON$/],
  ['a list', [], /must contain an object/],
  ['another kind', { ...config(valid), kind: 'Pod' }, /^kind: must be CredentialProviderConfig, not "Pod"$/],
  ['another group', { ...config(valid), apiVersion: 'v1' }, /^apiVersion: unsupported value "v1"/],
  ['an unknown field', { ...config(valid), extra: 1 }, /^"extra": unknown field$/],
  ['a duplicate key', 'apiVersion: kubelet.config.k8s.io/v1\nkind: X\nkind: CredentialProviderConfig', /already set/],
  ['no providers', config(), /^providers: at least 1 item/],
  ['providers that are no list', { ...config(), providers: 'x' }, /^providers: must be a list$/],
  ['a provider that is no object', config('x'), /^providers\[0\]: must be an object$/],
  ['a provider without a name', config({ ...valid, name: undefined }), /^providers\[0\]\.name: required/],
  ['a name with a separator', config({ ...valid, name: '../sh' }), /name "\.\.\/sh" cannot contain path separators$/],
  ['a name with a backslash', config({ ...valid, name: 'a\\b' }), /cannot contain path separators$/],
  ['a name with a space', config({ ...valid, name: 'a b' }), /cannot contain spaces$/],
  ['the parent directory', config({ ...valid, name: '..' }), /cannot be '\.\.'$/],
  ['the directory', config({ ...valid, name: '.' }), /cannot be '\.'$/],
  ['a duplicate name', config(valid, valid), /^providers\[1\]\.name: duplicate value "ecr"$/],
  ['no plugin version', config({ ...valid, apiVersion: '' }), /^providers\[0\]\.apiVersion: required/],
  ['an unknown plugin version', config({ ...valid, apiVersion: 'v2' }), /apiVersion: unsupported value "v2"/],
  ['no images', config({ ...valid, matchImages: [] }), /matchImages: at least 1 item/],
  ['an empty image', config({ ...valid, matchImages: [''] }), /matchImages\[0\]: match image is invalid/],
  ['an image with a scheme', config({ ...valid, matchImages: ['a', 'https://b'] }), /matchImages\[1\].*scheme$/],
  ['an image with a glob as port', config({ ...valid, matchImages: ['a:*'] }), /matchImages\[0\]: match image/],
  ['no cache duration', config({ ...valid, defaultCacheDuration: undefined }), /defaultCacheDuration: required$/],
  ['a number as duration', config({ ...valid, defaultCacheDuration: 12 }), /12 is not a duration/],
  ['a negative duration', config({ ...valid, defaultCacheDuration: '-1s' }), /must be greater than or equal to 0$/],
  ['arguments that are no strings', config({ ...valid, args: [1] }), /args: must be a list of strings$/],
  ['variables without a name', config({ ...valid, env: [{ value: 'x' }] }), /env: must be a list of objects/],
  ['token attributes', config({ ...valid, tokenAttributes: {} }), /tokenAttributes is not supported when/],
  ['an unknown provider field', config({ ...valid, image: 'x' }), /^providers\[0\]\.image: unknown field$/],
];
for (const [title, content, fault] of rows) {
  test(`a configuration with ${title} is invalid`, () => {
    const faults = faultsOf(content);
    assert.ok(
      faults.some((each) => fault.test(each)),
      faults.join('\n'),
    );
  });
}

test('all faults are reported at once', () => {
  const faults = faultsOf(config({ name: 'a/b' }, { ...valid, defaultCacheDuration: 'x', tokenAttributes: {} }));
  assert.deepEqual(
    faults.map((each) => each.split(':')[0]),
    [
      'providers[0].name',
      'providers[0].apiVersion',
      'providers[0].matchImages',
      'providers[0].defaultCacheDuration',
      'providers[1].defaultCacheDuration',
      'providers[1].tokenAttributes',
    ],
  );
});

test('faults contain no values of variables and no text of the file', () => {
  assert.doesNotMatch(faultsOf('a: [hunter2').join(), /hunter2/);
  const env = [{ name: 'A=', value: 'hunter2' }];
  assert.doesNotMatch(faultsOf(config({ ...valid, env, args: ['hunter2', 1] })).join(), /hunter2/);
});
