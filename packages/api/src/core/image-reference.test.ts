import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseImageReference } from './image-reference.ts';

const sha = `sha256:${'0'.repeat(64)}`;
const images: readonly (readonly [image: string, reference: unknown])[] = [
  ['nginx', { repository: 'docker.io/library/nginx' }],
  ['team/app:1.2', { repository: 'docker.io/team/app', tag: '1.2' }],
  ['index.docker.io/nginx', { repository: 'docker.io/library/nginx' }],
  ['localhost/app', { repository: 'localhost/app' }],
  ['registry.example.com:5000/a/b:t', { repository: 'registry.example.com:5000/a/b', tag: 't' }],
  [`a.io/b:t@${sha}`, { repository: 'a.io/b', tag: 't', digest: sha }],
  ['Nginx', undefined],
  ['nginx:', undefined],
  ['a'.repeat(64), undefined],
  [`nginx@sha256:${'0'.repeat(32)}`, undefined],
  ['', undefined],
];
for (const [image, reference] of images) {
  test(`${image.slice(0, 40)} is ${reference === undefined ? 'no image' : 'an image'}`, () => {
    assert.deepEqual(parseImageReference(image), reference);
  });
}
