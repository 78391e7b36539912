import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameAndTagOf, parseImageReference } from './image-reference.ts';

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
  test(`${image.slice(0, 40)} is ${reference === undefined ? 'an invalid' : 'a valid'} image reference`, () => {
    assert.deepEqual(parseImageReference(image), reference);
  });
}

const listed: readonly (readonly [image: string, under: unknown])[] = [
  ['ubuntu', { name: 'ubuntu', tag: 'latest' }],
  ['docker.io/library/ubuntu:latest', { name: 'ubuntu', tag: 'latest' }],
  ['index.docker.io/team/app:1', { name: 'team/app', tag: '1' }],
  ['docker.io/library/team/app', { name: 'library/team/app', tag: 'latest' }],
  ['myregistry:5000/my/image:v1', { name: 'myregistry:5000/my/image', tag: 'v1' }],
  [`ubuntu:20.04@${sha}`, { name: 'ubuntu', tag: sha }],
  ['INVALID_IMAGE_REF', undefined],
  ['team/Image', undefined],
];
for (const [image, under] of listed) {
  test(`${image.slice(0, 40)} is listed ${under === undefined ? 'nowhere' : 'under its name and tag'}`, () => {
    assert.deepEqual(nameAndTagOf(image), under);
  });
}
