import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SidecarSetSpec } from '@kruise/api/kruise/sidecarset';
import { hashOfData } from '@kruise/machinery/controller-revision';
import { stringify } from '@kruise/values/go-json';
import { sidecarSetData, sidecarSetHash, sidecarSetHashWithoutImage } from './fingerprint.ts';

const one = { name: 'container1', image: 'test-image' };
const native = { ...one, restartPolicy: 'Always' };
const hashes: { of: string; spec: SidecarSetSpec; hash: string }[] = [
  {
    of: 'a container',
    spec: { containers: [one] },
    hash: 'w26c4x8fz245642fdv499b464248f974xddx4x55z5dw55bc6x66464fxz77dc78',
  },
  {
    of: 'a native sidecar as well',
    spec: { containers: [one], initContainers: [native] },
    hash: '4xwx4d4844vd4v9x79wb4xbxf4xb29475cc4446v8cz2c2f2f5c5bw448vd42z8w',
  },
  { of: 'nothing', spec: {}, hash: 'x5vwx9w6vv4dv72c9w4c2f6v74fbwx545b45bbfz6z2dvf8w887xw86fvcb4cf48' },
  {
    of: 'no containers',
    spec: { containers: [] },
    hash: '5662x672v59974vdzvf4bdfwc4v526wx5w7884vx5c7fc2f246v484v5988xb9z7',
  },
  {
    of: 'characters that Go escapes',
    spec: { containers: [{ name: 'side', image: 'side:v1', env: [{ name: 'U', value: 'a\u2028b漢😀' }] }] },
    hash: '425z95f86ff4vd5c284cd586f98672x48fb28b764w9bd9v55cw7xfvdv9f48xfb',
  },
];
for (const { of, spec, hash } of hashes) {
  test(`the hash of ${of} is OpenKruise's`, () => assert.equal(sidecarSetHash(spec), hash));
}

test('fields that affect only newly created Pods do not change the hash', () => {
  const more = {
    containers: [one],
    initContainers: [one],
    volumes: [{ name: 'v' }],
    imagePullSecrets: [{ name: 'p' }],
  };
  assert.equal(sidecarSetHash(more), sidecarSetHash({ containers: [one] }));
});

test('an image changes only one of the hashes', () => {
  const [before, after] = ['side:v1', 'side:v2'].map((image) => ({ containers: [{ name: 'side', image }] }));
  assert.notEqual(sidecarSetHash(before!), sidecarSetHash(after!));
  assert.equal(sidecarSetHashWithoutImage(before!), sidecarSetHashWithoutImage(after!));
  assert.equal(sidecarSetHashWithoutImage(before!), '65b8xw7vd84wd84z4x826dxcb7c6b4dbv847xz6556569c6d85vdv58vb2xf42b5');
});

test('a revision contains everything that Pods get, in order', () => {
  const data = sidecarSetData({
    containers: [{ name: 'side', image: 'side:v1' }],
    initContainers: [],
    volumes: [{ name: 'v', emptyDir: {} }],
    imagePullSecrets: [{ name: 'p' }],
    patchPodMetadata: [{ annotations: { b: '1', a: '<2>' }, patchPolicy: 'Retain' }],
  });
  assert.equal(
    stringify(data),
    '{"spec":{"$patch":"replace","containers":[{"image":"side:v1","name":"side","resources":{},"shareVolumePolicy":{},' +
      '"upgradeStrategy":{}}],"imagePullSecrets":[{"name":"p"}],"initContainers":null,"patchPodMetadata":[{"annotations":' +
      '{"a":"\\u003c2\\u003e","b":"1"},"patchPolicy":"Retain"}],"volumes":[{"emptyDir":{},"name":"v"}]}}',
  );
  assert.equal(hashOfData(data), '848f959784');
});
