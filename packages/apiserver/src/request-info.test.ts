import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestInfo } from './request-info.ts';

function formatRequest(method: string, url: string): string {
  const [path = '', query = ''] = url.split('?');
  const info = requestInfo(method, path, new URLSearchParams(query));
  if (!info.isResource) return `${info.verb} ${info.path}`;
  const { verb, group, version, namespace, plural, subresource, name } = info;
  return `${verb} ${group || 'core'}/${version} ${plural}${subresource && `/${subresource}`} ns=${namespace} name=${name}`;
}

const cases: readonly [string, string, string][] = [
  ['GET', '/api/v1/pods', 'list core/v1 pods ns= name='],
  ['GET', '/api/v1/namespaces/a/pods', 'list core/v1 pods ns=a name='],
  ['GET', '/api/v1/namespaces/a/pods/p', 'get core/v1 pods ns=a name=p'],
  ['GET', '/api/v1/namespaces/a/pods/p/log', 'get core/v1 pods/log ns=a name=p'],
  ['GET', '/api/v1/namespaces/a', 'get core/v1 namespaces ns=a name=a'],
  ['PUT', '/api/v1/namespaces/a/status', 'update core/v1 namespaces/status ns=a name=a'],
  ['PUT', '/api/v1/namespaces/a/finalize', 'update core/v1 namespaces/finalize ns=a name=a'],
  ['GET', '/api/v1/namespaces', 'list core/v1 namespaces ns= name='],
  ['POST', '/apis/apps/v1/namespaces/a/deployments', 'create apps/v1 deployments ns=a name='],
  ['PATCH', '/apis/apps/v1/namespaces/a/deployments/d/scale', 'patch apps/v1 deployments/scale ns=a name=d'],
  ['DELETE', '/api/v1/namespaces/a/pods', 'deletecollection core/v1 pods ns=a name='],
  ['DELETE', '/api/v1/nodes/n', 'delete core/v1 nodes ns= name=n'],
  ['GET', '/api/v1/pods?watch=true', 'watch core/v1 pods ns= name='],
  ['GET', '/api/v1/pods?watch=1', 'watch core/v1 pods ns= name='],
  ['GET', '/api/v1/pods?watch=false', 'list core/v1 pods ns= name='],
  ['GET', '/api/v1/watch/namespaces/a/pods', 'watch core/v1 pods ns=a name='],
  ['GET', '/api/v1/watch/namespaces/a/pods/p', 'watch core/v1 pods ns=a name=p'],
  ['GET', '/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dp', 'list core/v1 pods ns=a name=p'],
  ['GET', '/api/v1/namespaces/a/pods/a%2Fb', 'get core/v1 pods/b ns=a name=a'],
  // The selector is parsed like that of the list: escaped, negated or invalid selectors name no object.
  [
    'GET',
    '/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3D%3Dp,spec.nodeName%3Dn',
    'list core/v1 pods ns=a name=p',
  ],
  ['GET', '/api/v1/namespaces/a/pods?fieldSelector=metadata.name!%3Dp', 'list core/v1 pods ns=a name='],
  [
    'GET',
    '/api/v1/namespaces/a/pods?fieldSelector=spec.nodeName!%3Dx\\,metadata.name%3Dp',
    'list core/v1 pods ns=a name=',
  ],
  ['GET', '/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dp,nonsense', 'list core/v1 pods ns=a name='],
  ['GET', '/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dp\\,q', 'list core/v1 pods ns=a name=p,q'],
  ['GET', '/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3D..', 'list core/v1 pods ns=a name='],
  ['GET', '/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Db%2Fc', 'list core/v1 pods ns=a name='],
  ['GET', '/healthz', 'get /healthz'],
  ['GET', '/%6Detrics', 'get /metrics'],
  ['GET', '/apis%2Fapps%2Fv1/deployments', 'list apps/v1 deployments ns= name='],
  ['GET', '/api/v1/namespaces/a/../b/pods', 'get core/v1 ../pods ns=a name=b'],
  ['GET', '/apis/apps', 'get /apis/apps'],
  ['GET', '/apis/apps/v1', 'get /apis/apps/v1'],
];
for (const [method, url, expected] of cases) {
  test(`${method} ${url}`, () => assert.equal(formatRequest(method, url), expected));
}
