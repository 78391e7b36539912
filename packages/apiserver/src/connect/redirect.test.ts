import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rewriteUrl } from './redirect.ts';

const at = { backendHost: '10.0.0.7:8080', requestHost: 'localhost:8001', prefix: '/api/v1/pods/p/proxy' };

const cases = [
  { name: 'a path', url: '/there/?x=1#y', becomes: '/api/v1/pods/p/proxy/there/?x=1#y' },
  {
    name: 'a path that leads through the proxy already',
    url: '/api/v1/pods/p/proxy/x',
    becomes: '/api/v1/pods/p/proxy/x',
  },
  { name: 'a URL of the server itself', url: 'http://10.0.0.7:8080/x', becomes: '/api/v1/pods/p/proxy/x' },
  {
    name: 'a URL of what the client calls the server',
    url: 'http://localhost:8001/x',
    becomes: 'http://localhost:8001/api/v1/pods/p/proxy/x',
  },
  { name: 'a URL of another server', url: 'https://example.com/x', becomes: 'https://example.com/x' },
  { name: 'a relative path', url: 'next', becomes: 'next' },
  { name: 'a query alone', url: '?page=2', becomes: '?page=2' },
];
for (const { name, url, becomes } of cases) {
  test(`${name} becomes ${becomes}`, () => {
    assert.equal(rewriteUrl(url, at), becomes);
  });
}
