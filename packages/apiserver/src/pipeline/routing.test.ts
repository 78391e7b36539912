import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '@kruise/machinery/status';
import { PlainTextError, StatusErrorWithHeaders } from '../handlers/http-errors.ts';
import { requestInfo } from '../request-info.ts';
import { checkRoute } from './routing.ts';

function formatRoute(method: string, url: string): string {
  const [path = '', query = ''] = url.split('?');
  try {
    checkRoute(requestInfo(method, path, new URLSearchParams(query)));
    return 'ok';
  } catch (error) {
    if (error instanceof PlainTextError) return `${error.code} text`;
    if (error instanceof StatusErrorWithHeaders) return `${error.code} ${error.headers.allow}`;
    assert.ok(error instanceof StatusError);
    return `${error.code} Status`;
  }
}

const cases: readonly [string, string, string][] = [
  ['GET', '/api/v1/pods', 'ok'],
  ['GET', '/api/v1/pods?watch=1&fieldSelector=metadata.name%3Da', 'ok'],
  ['DELETE', '/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Da', 'ok'],
  ['POST', '/api/v1/pods', '405 GET'],
  ['GET', '/api/v1/pods/a', '404 Status'],
  ['POST', '/api/v1/namespaces/a/pods/b', '405 DELETE, GET, PATCH, PUT'],
  ['PUT', '/api/v1/namespaces/a/pods', '405 POST, DELETE, GET'],
  ['GET', '/api/v1/namespaces/a/nodes', '404 Status'],
  ['GET', '/api/v1/namespaces/a', 'ok'],
  ['PUT', '/api/v1/namespaces/a/finalize', 'ok'],
  ['GET', '/api/v1/namespaces/a/pods/b/nothing', '404 Status'],
  ['GET', '/api/v1/namespaces/a/pods/b/status/c', '404 Status'],
  ['GET', '/api/v1/namespaces/a/pods/b/proxy/c/d', 'ok'],
  ['GET', '/api/v1/namespaces/a/pods/b/binding', '405 POST'],
  ['GET', '/apis/apps/v9/deployments', '404 Status'],
  ['GET', '/apis/none.example.com/v1/things', '404 text'],
  ['GET', '/api/v1/componentstatuses?watch=1', 'ok'],
];
for (const [method, url, expected] of cases) {
  test(`${method} ${url}`, () => assert.equal(formatRoute(method, url), expected));
}
