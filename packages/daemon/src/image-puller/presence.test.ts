import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Image } from '@kruise/node/cri/messages';
import { findImage, referenceTo } from './presence.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const image = (repoTags: readonly string[], repoDigests: readonly string[] = []): Image => ({
  id: 'sha256:id',
  repoTags,
  repoDigests,
  size: 1,
  username: '',
  pinned: false,
});

const cases: { wanted: readonly [name: string, tag: string]; has: Image; isThere: boolean }[] = [
  { wanted: ['nginx', 'latest'], has: image(['docker.io/library/nginx:latest']), isThere: true },
  {
    wanted: ['nginx', '1.9'],
    has: image(['docker.io/library/nginx:1.8', 'docker.io/library/nginx:1.9']),
    isThere: true,
  },
  { wanted: ['nginx', '1.9'], has: image(['docker.io/library/nginx:latest']), isThere: false },
  { wanted: ['test/nginx', '1.0'], has: image(['docker.io/test/nginx:1.0']), isThere: true },
  { wanted: ['test/nginx', '1.0'], has: image(['docker.io/library/nginx:1.0']), isThere: false },
  { wanted: ['1.1.1.1:8080/test/nginx', '1.0'], has: image(['1.1.1.1:8080/test/nginx:1.0']), isThere: true },
  { wanted: ['docker.io/library/nginx', 'latest'], has: image(['docker.io/library/nginx:latest']), isThere: false },
  { wanted: ['nginx', digest], has: image([], [`docker.io/library/nginx@${digest}`]), isThere: true },
  { wanted: ['nginx', 'latest'], has: image(['<none>:<none>']), isThere: false },
];
for (const { wanted, has, isThere } of cases) {
  const [name, tag] = wanted;
  test(`${name} with ${tag.slice(0, 12)} is ${isThere ? '' : 'not '}present as ${[...has.repoTags, ...has.repoDigests].join(', ').slice(0, 60)}`, () => {
    assert.equal(findImage([has], { name, tag }) !== undefined, isThere);
  });
}

test('a digest is part of the image reference', () => {
  assert.equal(referenceTo({ name: 'nginx', tag: '1.9' }), 'nginx:1.9');
  assert.equal(referenceTo({ name: 'nginx', tag: digest }), `nginx@${digest}`);
});
