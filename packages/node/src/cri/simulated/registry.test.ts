import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { GrpcError } from '@kruise/client/grpc/status';
import { createImageStore } from './image-store.ts';
import { createRegistry } from './registry.ts';

const registry = createRegistry();
const digestOf = (image: string) => registry.resolve(image).image.digest;

describe('existing images', () => {
  test('two tags may be one image', () => {
    assert.equal(digestOf('docker.io/library/nginx:alpine'), digestOf('nginx:mainline-alpine'));
    assert.notEqual(digestOf('nginx:alpine'), digestOf('nginx:latest'));
    assert.notEqual(digestOf('nginx:1.21'), digestOf('nginx:1.22'));
  });

  test('an image has the same digest every time and on every registry', () => {
    assert.equal(createRegistry().resolve('nginx:1.21').image.digest, digestOf('docker.io/library/nginx:1.21'));
    assert.match(digestOf('nginx'), /^sha256:[0-9a-f]{64}$/);
  });

  test('an image can be pulled by its digest', () => {
    const digest = digestOf('nginx:1.21');
    const { image, reference } = registry.resolve(`nginx@${digest}`);
    assert.deepEqual(
      [image.digest, image.id, reference.tag],
      [digest, registry.resolve('nginx:1.21').image.id, undefined],
    );
  });

  test('unofficial images of a public registry are assumed to exist', () => {
    for (const image of [
      'quay.io/team/app:v1',
      'ghcr.io/a/b/c:d',
      'acme/shop:v2',
      'registry.k8s.io/e2e-test-images/agnhost:2.53',
    ]) {
      assert.ok(registry.resolve(image).image.sizeBytes > 0);
    }
  });
});

describe('missing images', () => {
  const cases: readonly [image: string, code: string, message: RegExp][] = [
    [
      'foo:non-existent',
      'UNKNOWN',
      /^failed to pull and unpack image "docker\.io\/library\/foo:non-existent": failed to resolve reference "docker\.io\/library\/foo:non-existent": pull access denied, repository does not exist or may require authorization/,
    ],
    ['webserver:404', 'UNKNOWN', /pull access denied/],
    ['nginx:non-existent', 'NOT_FOUND', /docker\.io\/library\/nginx:non-existent: not found$/],
    [
      'invalid.registry.k8s.io/invalid/alpine:3.1',
      'UNKNOWN',
      /Head "https:\/\/invalid\.registry\.k8s\.io\/v2\/invalid\/alpine\/manifests\/3\.1": dial tcp: lookup invalid\.registry\.k8s\.io: no such host$/,
    ],
    ['registry.corp.example/team/app:v1', 'UNKNOWN', /lookup registry\.corp\.example: no such host$/],
    ['gcr.io/authenticated-image-pulling/alpine:3.7', 'UNKNOWN', /403 Forbidden$/],
    ['Not A Name', 'UNKNOWN', /invalid reference format$/],
  ];
  for (const [image, code, message] of cases) {
    test(`${image} is ${code}`, () => {
      assert.throws(
        () => registry.resolve(image),
        (error) => error instanceof GrpcError && error.code === code && message.test(error.description),
      );
    });
  }

  test('a private image can be pulled with credentials', () => {
    const auth = { username: '_json_key', password: 'secret' };
    assert.ok(registry.resolve('gcr.io/authenticated-image-pulling/alpine:3.7', auth));
  });

  test('private networks have registries', () => {
    for (const host of ['localhost:5000', 'registry.local', 'registry.corp.internal:443']) {
      assert.ok(registry.resolve(`${host}/team/app:v1`));
    }
  });

  test('an unknown image does not run as root', () => {
    assert.equal(registry.resolve('ghcr.io/team/app:v1').image.user, 65532);
    assert.equal(registry.resolve('busybox:1').image.user, undefined);
  });

  test('registries can be added, or all be allowed', () => {
    assert.ok(createRegistry({ hosts: ['registry.corp.example'] }).resolve('registry.corp.example/team/app:v1'));
    const every = createRegistry({ hosts: ['*'] });
    assert.ok(every.resolve('10.0.0.7:5000/x:1'));
    assert.throws(() => every.resolve('invalid.registry.k8s.io/invalid/alpine:3.1'), /no such host/);
  });
});

describe('images on a node', () => {
  test('tags of one image are names of one image', () => {
    const store = createImageStore();
    const one = store.add(registry.resolve('nginx:mainline-alpine'));
    const both = store.add(registry.resolve('nginx:alpine'));
    assert.equal(one.image.id, both.image.id);
    assert.deepEqual(both.tags, ['docker.io/library/nginx:alpine', 'docker.io/library/nginx:mainline-alpine']);
    assert.equal(store.list().length, 1);
  });

  test('removing one name keeps the other, removing the ID removes both', () => {
    const store = createImageStore();
    store.add(registry.resolve('nginx:mainline-alpine'));
    const { image } = store.add(registry.resolve('nginx:alpine'));
    store.remove('nginx:alpine');
    assert.deepEqual(store.find(image.id)?.tags, ['docker.io/library/nginx:mainline-alpine']);
    assert.equal(store.find('nginx:alpine'), undefined);
    store.remove(image.id);
    assert.deepEqual(store.list(), []);
  });

  test('an image is removed with its last tag', () => {
    const store = createImageStore();
    store.add(registry.resolve('nginx:1.21'));
    store.remove('docker.io/library/nginx:1.21');
    assert.deepEqual(store.list(), []);
    assert.equal(store.usedBytes(), 0);
  });

  test('an image pulled by digest has no tag', () => {
    const store = createImageStore();
    const digest = digestOf('nginx:1.21');
    const stored = store.add(registry.resolve(`nginx@${digest}`));
    assert.deepEqual([stored.tags, stored.digests], [[], [`docker.io/library/nginx@${digest}`]]);
    assert.equal(store.find(`nginx@${digest}`)?.image.id, stored.image.id);
  });

  test('an ambiguous ID prefix is rejected', () => {
    const store = createImageStore();
    const ids = new Set<string>();
    // With this many images some share the first four digits of their IDs.
    for (let index = 0; index < 1000; index++) ids.add(store.add(registry.resolve(`acme/app:v${index}`)).image.id);
    const prefixes = Map.groupBy(ids, (id) => id.slice('sha256:'.length, 'sha256:'.length + 4));
    const [shared] = [...prefixes].find(([, group]) => group.length > 1) ?? [];
    assert.throws(() => store.find(shared as string), /ambiguous/);
  });
});
