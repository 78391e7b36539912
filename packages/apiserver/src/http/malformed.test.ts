/**
 * Malformed requests over a socket, and Kubernetes' response to each: the code, and the reason and message of its
 * Status. The cases depend on each other: the object `target` exists until it is deleted.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { type RawResponse, rawRequests } from '../testing/raw-requests.ts';
import { type Listening, startTestServer, type TestServer } from '../testing/test-server.ts';

type Row = {
  readonly request: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  readonly answer: string;
};

const rows: readonly Row[] = [
  { request: 'GET /', answer: '200' },
  { request: 'GET /nope', answer: '404 404 page not found' },
  { request: 'GET /api/', answer: '200' },
  { request: 'GET /api/v2', answer: '404 NotFound: the server could not find the requested resource' },
  { request: 'GET /api/v1/', answer: '200' },
  { request: 'GET /apis/', answer: '200' },
  { request: 'GET /apis/nope', answer: '404 404 page not found' },
  { request: 'GET /apis/nope/v1', answer: '404 404 page not found' },
  { request: 'GET /apis/apps/v2', answer: '404 NotFound: the server could not find the requested resource' },
  { request: 'GET /apis/apps/v1/nope', answer: '404 NotFound: the server could not find the requested resource' },
  { request: 'GET /api/v1/nope', answer: '404 NotFound: the server could not find the requested resource' },
  {
    request: 'GET /api/v1/namespaces/default/nope',
    answer: '404 NotFound: the server could not find the requested resource',
  },
  {
    request: 'GET /api/v1/namespaces/default/nope/x',
    answer: '404 NotFound: the server could not find the requested resource',
  },
  { request: 'GET /api/v1/pods/x', answer: '404 NotFound: the server could not find the requested resource' },
  { request: 'GET /api/v1/namespaces/default', answer: '200' },
  { request: 'GET /api/v1/namespaces/nope', answer: '404 NotFound: namespaces "nope" not found' },
  {
    request: 'GET /api/v1/namespaces/default/configmaps/x/status',
    answer: '404 NotFound: the server could not find the requested resource',
  },
  {
    request: 'GET /api/v1/namespaces/default/pods/x/nope',
    answer: '404 NotFound: the server could not find the requested resource',
  },
  { request: 'GET /api/v1/namespaces/default/pods/nope/log', answer: '404 NotFound: pods "nope" not found' },
  { request: 'GET /api/v1/namespaces/default/pods/nope/exec', answer: '404 NotFound: pods "nope" not found' },
  { request: 'GET /api//v1/pods', answer: '404 NotFound: the server could not find the requested resource' },
  { request: 'GET /api/v1//pods', answer: '404 NotFound: the server could not find the requested resource' },
  { request: 'GET /api/v1/namespaces//configmaps', answer: '200' },
  { request: 'GET /apis/apps', answer: '200' },
  { request: 'GET /openapi/v4', answer: '404 404 page not found' },
  { request: 'GET /openapi/v3/nope', answer: '404 ' },
  { request: 'GET /healthz/nope', answer: '404 404 page not found' },
  { request: 'GET /livez/nope', answer: '404 404 page not found' },
  { request: 'GET /readyz/nope', answer: '404 404 page not found' },
  { request: 'GET /metrics/x', answer: '404 404 page not found' },
  { request: 'GET /logs', answer: '404 404 page not found' },
  { request: 'GET /api/v1/namespaces/default/configmaps/', answer: '200' },
  { request: 'GET /api/v1/namespaces/default/configmaps/UPPER', answer: '404 NotFound: configmaps "UPPER" not found' },
  {
    request: 'GET /api/v1/namespaces/default/configmaps/a%2Fb',
    answer: '404 NotFound: the server could not find the requested resource',
  },
  { request: 'GET /api/v1/namespaces/default/configmaps/%zz', answer: '400 400 Bad Request' },
  { request: 'GET /api/v1/watch/nope', answer: '404 NotFound: the server could not find the requested resource' },
  {
    request: 'GET /api/v1/watch/namespaces/default/configmaps/x/y/z',
    answer: '404 NotFound: the server could not find the requested resource',
  },
  { request: 'GET /api/v1/proxy/nodes/x', answer: '404 NotFound: the server could not find the requested resource' },
  { request: 'GET /api/v1/nodes/nope', answer: '404 NotFound: nodes "nope" not found' },
  { request: 'GET /api/v1/nodes/nope/proxy/', answer: '404 NotFound: nodes "nope" not found' },
  {
    request: 'GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/nope',
    answer: '404 NotFound: customresourcedefinitions.apiextensions.k8s.io "nope" not found',
  },
  {
    request: 'GET /apis/batch/v1beta1/cronjobs',
    answer: '404 NotFound: the server could not find the requested resource',
  },
  {
    request: 'GET /apis/policy/v1beta1/poddisruptionbudgets',
    answer: '404 NotFound: the server could not find the requested resource',
  },
  {
    request: 'GET /api/v1/componentstatuses?watch=1',
    answer: '405 MethodNotAllowed: watch is not supported on resources of kind "componentstatuses"',
  },
  { request: 'GET /api/v1/componentstatuses/nope', answer: '404 NotFound: componentstatus "nope" not found' },
  {
    request: 'GET /apis/rbac.authorization.k8s.io/v1/clusterroles/nope',
    answer: '404 NotFound: clusterroles.rbac.authorization.k8s.io "nope" not found',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?limit=x',
    answer: '400 BadRequest: strconv.ParseInt: parsing "x": invalid syntax',
  },
  { request: 'GET /api/v1/namespaces/default/configmaps?limit=-1', answer: '200' },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?limit=1.5',
    answer: '400 BadRequest: strconv.ParseInt: parsing "1.5": invalid syntax',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?limit=99999999999999999999',
    answer: '400 BadRequest: strconv.ParseInt: parsing "99999999999999999999": value out of range',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?continue=x',
    answer: '400 BadRequest: invalid continue token: continue key is not valid: illegal base64 data at input byte 0',
  },
  {
    request:
      'GET /api/v1/namespaces/default/configmaps?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0',
    answer: '200',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?resourceVersion=x',
    answer:
      '400 BadRequest: invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?resourceVersion=-1',
    answer:
      '400 BadRequest: invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?resourceVersion=99999999999',
    answer: '504 Timeout: Timeout: Too large resource version: 99999999999, current: N',
  },
  { request: 'GET /api/v1/namespaces/default/configmaps?resourceVersion=1&resourceVersionMatch=Exact', answer: '200' },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?resourceVersionMatch=Exact',
    answer:
      '422 Invalid: ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?resourceVersionMatch=Nope&resourceVersion=1',
    answer:
      '422 Invalid: ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Nope": supported values: "Exact", "NotOlderThan", ""',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?resourceVersion=0&resourceVersionMatch=Exact',
    answer:
      '422 Invalid: ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?resourceVersion=1&continue=abc',
    answer:
      "400 BadRequest: invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value",
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?labelSelector=a%3D%3D%3Db',
    answer: "400 BadRequest: unable to parse requirement: found '=', expected: identifier",
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?labelSelector=!',
    answer: "400 BadRequest: unable to parse requirement: found '', expected: identifier",
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?labelSelector=a%20in%20(',
    answer: "400 BadRequest: unable to parse requirement: found '', expected: ',', ')' or identifier",
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?labelSelector=a%20in%20b',
    answer: "400 BadRequest: unable to parse requirement: found 'b' expected: '('",
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?labelSelector=-a%3Db',
    answer:
      "400 BadRequest: unable to parse requirement: <nil>: Invalid value: \"-a\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?labelSelector=a%3D-b-',
    answer:
      "400 BadRequest: unable to parse requirement: values[0][a]: Invalid value: \"-b-\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?labelSelector=a%3E1b',
    answer:
      "400 BadRequest: unable to parse requirement: values[0]: Invalid value: \"1b\": for 'Gt', 'Lt' operators, the value must be an integer",
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?fieldSelector=nope%3Dx',
    answer: '400 BadRequest: "nope" is not a known field selector: only "metadata.name", "metadata.namespace"',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?fieldSelector=metadata.name',
    answer: "400 BadRequest: invalid selector: 'metadata.name'; can't understand 'metadata.name'",
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Dx,spec.foo%3Dy',
    answer: '400 BadRequest: "spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?fieldSelector=%3Dx',
    answer: '400 BadRequest: "" is not a known field selector: only "metadata.name", "metadata.namespace"',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?watch=true&resourceVersion=x',
    answer: '500 : resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?watch=true&sendInitialEvents=true',
    answer:
      '422 Invalid: ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled]',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?watch=true&sendInitialEvents=true&resourceVersionMatch=Exact',
    answer:
      '422 Invalid: ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?sendInitialEvents=true',
    answer:
      '422 Invalid: ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?watch=true&resourceVersionMatch=NotOlderThan',
    answer:
      '422 Invalid: ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?watch=true&timeoutSeconds=x',
    answer: '400 BadRequest: strconv.ParseInt: parsing "x": invalid syntax',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?timeoutSeconds=-x',
    answer: '400 BadRequest: strconv.ParseInt: parsing "-x": invalid syntax',
  },
  { request: 'GET /api/v1/namespaces/default/configmaps?allowWatchBookmarks=x', answer: '200' },
  { request: 'GET /api/v1/namespaces/default/configmaps?pretty=maybe', answer: '200' },
  { request: 'GET /api/v1/namespaces/default/configmaps?watch=true&continue=x&timeoutSeconds=1', answer: '200' },
  {
    request: 'GET /api/v1/namespaces/default/configmaps?limit=5&continue=%00',
    answer: '400 BadRequest: invalid continue token: continue key is not valid: illegal base64 data at input byte 0',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps',
    headers: { accept: 'text/html' },
    answer:
      '406 NotAcceptable: 406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps',
    headers: { accept: 'application/xml' },
    answer:
      '406 NotAcceptable: 406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps',
    headers: { accept: 'application/json;as=Nope;v=v1;g=meta.k8s.io' },
    answer:
      '406 NotAcceptable: only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps',
    headers: { accept: 'application/json;as=Table;v=v2;g=meta.k8s.io' },
    answer:
      '406 NotAcceptable: only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps',
    headers: { accept: 'application/json;as=Table;v=v1;g=nope' },
    answer:
      '406 NotAcceptable: only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps',
    headers: { accept: 'application/yaml;as=Table' },
    answer:
      '406 NotAcceptable: only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps',
    headers: { accept: 'nonsense' },
    answer:
      '406 NotAcceptable: 406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
  },
  { request: 'GET /api/v1/namespaces/default/configmaps', headers: { accept: '*/*;q=0' }, answer: '200' },
  {
    request: 'GET /api/v1/namespaces/default/configmaps',
    headers: { accept: 'application/vnd.kubernetes.protobuf;as=Nope' },
    answer:
      '406 NotAcceptable: only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps',
    headers: { accept: 'application/json;stream=watch' },
    answer: '200',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps',
    headers: { accept: 'image/png, text/*' },
    answer:
      '406 NotAcceptable: 406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '',
    answer:
      "400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    answer:
      "400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: 'nope',
    answer:
      "400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: invalid character 'o' in literal null (expecting 'u') (6e6f7065)",
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":',
    answer:
      '400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: unexpected end of JSON input ({"apiVersion":"v1","kind":)',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '[]',
    answer:
      '400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (5b5d)',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '"x"',
    answer:
      '400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (227822)',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '7',
    answer:
      '400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: json: cannot unmarshal number into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (37)',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: 'null',
    answer: '422 Invalid: ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: 'true',
    answer:
      '400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: json: cannot unmarshal bool into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (74727565)',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{}',
    answer: '422 Invalid: ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1"}',
    answer: '422 Invalid: ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"kind":"ConfigMap"}',
    answer: '422 Invalid: ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}',
    answer:
      '400 BadRequest: Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"Nope","metadata":{"name":"x"}}',
    answer:
      '400 BadRequest: Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" is registered for version "v1" in scheme "pkg/runtime/scheme.go:110"',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"apps/v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer:
      '400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps/v1" in scheme "pkg/runtime/scheme.go:110"',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v7","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer:
      '400 BadRequest: ConfigMap in version "v7" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v7" in scheme "pkg/runtime/scheme.go:110"',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"a/b/c","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer:
      '400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":1,"kind":"ConfigMap","metadata":{"name":"x"}}',
    answer:
      '400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: json: cannot unmarshal number into Go struct field .apiVersion of type string ({"apiVersion":1,"kind":"Config ...)',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":[],"metadata":{"name":"x"}}',
    answer:
      '400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go struct field .kind of type string ({"apiVersion":"v1","kind":[]," ...)',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":"x"}',
    answer:
      '400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go struct field ConfigMap.metadata of type v1.ObjectMeta',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":[]}',
    answer:
      '400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal array into Go struct field ConfigMap.metadata of type v1.ObjectMeta',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{}}',
    answer: '422 Invalid: ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":7}}',
    answer:
      '400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","labels":[]}}',
    answer:
      '400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","labels":{"a":1}}}',
    answer:
      '400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","labels":{"a b":"c"}}}',
    answer:
      "422 Invalid: ConfigMap \"x\" is invalid: metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","labels":{"a":"b c"}}}',
    answer:
      "422 Invalid: ConfigMap \"x\" is invalid: metadata.labels: Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","annotations":{"a b":"c"}}}',
    answer:
      "422 Invalid: ConfigMap \"x\" is invalid: metadata.annotations: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"UPPER"}}',
    answer:
      "422 Invalid: ConfigMap \"UPPER\" is invalid: metadata.name: Invalid value: \"UPPER\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}',
    answer:
      '422 Invalid: ConfigMap "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" is invalid: metadata.name: Invalid value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": must be no more than 253 characters',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":".x"}}',
    answer:
      "422 Invalid: ConfigMap \".x\" is invalid: metadata.name: Invalid value: \".x\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a/b"}}',
    answer:
      "422 Invalid: ConfigMap \"a/b\" is invalid: metadata.name: Invalid value: \"a/b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"","generateName":""}}',
    answer: '422 Invalid: ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"other"}}',
    answer: '400 BadRequest: the namespace of the provided object does not match the namespace sent on the request',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":1}}',
    answer:
      '400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":["a"]}',
    answer:
      '400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a/b":"c"}}',
    answer:
      "422 Invalid: ConfigMap \"x\" is invalid: data[a/b]: Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"binaryData":{"a":"!"}}',
    answer:
      '400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: illegal base64 data at input byte 0',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"immutable":"yes"}',
    answer:
      '400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"b"},"binaryData":{"a":"aGk="}}',
    answer:
      '422 Invalid: ConfigMap "x" is invalid: data[a]: Invalid value: "a": duplicate of key present in binaryData',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p"}]}}',
    answer:
      '422 Invalid: ConfigMap "x" is invalid: metadata.ownerReferences.uid: Invalid value: "": uid must not be empty',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","finalizers":["nope"]}}',
    answer:
      '422 Invalid: ConfigMap "x" is invalid: metadata.finalizers[0]: Invalid value: "nope": name is neither a standard finalizer name nor is it fully qualified',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","creationTimestamp":"yesterday"}}',
    answer:
      '400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","resourceVersion":"7"}}',
    answer: '500 : resourceVersion should not be set on objects to be created',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","generation":"7"}}',
    answer:
      '400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go struct field ObjectMeta.metadata.generation of type int64',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","managedFields":[{"manager":"m","operation":"Nope"}]}}',
    answer: '201',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer:
      '400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: invalid character \'{\' after top-level value ({"apiVersion":"v1","kind":"Con ...)',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}x',
    answer:
      '400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: invalid character \'x\' after top-level value ({"apiVersion":"v1","kind":"Con ...)',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"\u0001"}}',
    answer:
      '400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: invalid character \'\\x01\' in string literal ({"apiVersion":"v1","kind":"Con ...)',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","generation":1e400}}',
    answer:
      '400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number 1e400 into Go struct field ObjectMeta.metadata.generation of type int64',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","deletionGracePeriodSeconds":"a"}}',
    answer:
      '400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go struct field ObjectMeta.metadata.deletionGracePeriodSeconds of type int64',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/xml' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer:
      '415 UnsupportedMediaType: the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'text/plain' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer:
      '415 UnsupportedMediaType: the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'nonsense' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer:
      '415 UnsupportedMediaType: the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer:
      '415 UnsupportedMediaType: the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/yaml' },
    body: 'a: [b',
    answer:
      "400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): yaml: line 1: did not find expected ',' or ']' (613a205b62)",
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/yaml' },
    body: 'apiVersion: v1\nkind: ConfigMap\nkind: ConfigMap\nmetadata: {name: x}',
    answer: '201',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    body: 'nope',
    answer:
      '400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (6e6f7065)',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    body: 'k8s\0',
    answer: '400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): empty body (6b387300)',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/cbor' },
    body: 'x',
    answer:
      '415 UnsupportedMediaType: the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer: '201',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps?dryRun=Nope',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer:
      '422 Invalid: CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: []string{"Nope"}: supported values: "All"',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps?dryRun=All,All',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer:
      '422 Invalid: CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: []string{"All,All"}: supported values: "All"',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps?dryRun=',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer:
      '422 Invalid: CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: []string{""}: supported values: "All"',
  },
  {
    request:
      'POST /api/v1/namespaces/default/configmaps?fieldManager=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer:
      '422 Invalid: CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps?fieldManager=a%00b',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer:
      '422 Invalid: CreateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\\x00b": invalid character U+0000 (at position 1)',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps?fieldValidation=Nope',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer:
      '422 Invalid: CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Nope": supported values: "", "Ignore", "Strict", "Warn"',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps?force=true',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer: '201',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps?pretty=x',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer: '201',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps?dryRun=All&dryRun=All',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer: '201',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps?fieldValidation=Strict',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","wrong":2},"nope":1}',
    answer:
      '400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.wrong", unknown field "nope"',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps?fieldValidation=Strict',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer:
      '400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "kind"',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps/x',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer: '405 MethodNotAllowed: the server does not allow this method on the requested resource',
  },
  {
    request: 'POST /api/v1/namespaces/nope/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer: '404 NotFound: namespaces "nope" not found',
  },
  {
    request: 'POST /api/v1/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer: '405 MethodNotAllowed: the server does not allow this method on the requested resource',
  },
  {
    request: 'POST /api/v1/namespaces/UPPER/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer: '404 NotFound: namespaces "UPPER" not found',
  },
  {
    request: 'PUT /api/v1/namespaces/default/configmaps/nope',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"nope"}}',
    answer: '404 NotFound: configmaps "nope" not found',
  },
  {
    request: 'PUT /api/v1/namespaces/default/configmaps/nope',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"nope","resourceVersion":"5"}}',
    answer: '404 NotFound: configmaps "nope" not found',
  },
  {
    request: 'PUT /api/v1/namespaces/default/configmaps/x',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"y"}}',
    answer: '400 BadRequest: the name of the object (y) does not match the name on the URL (x)',
  },
  {
    request: 'PUT /api/v1/namespaces/default/configmaps/x',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"y"}}',
    answer: '400 BadRequest: the namespace of the provided object does not match the namespace sent on the request',
  },
  {
    request: 'PUT /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer: '405 MethodNotAllowed: the server does not allow this method on the requested resource',
  },
  {
    request: 'PUT /api/v1/namespaces/default/configmaps/x',
    headers: { 'content-type': 'application/json' },
    body: '',
    answer:
      "400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
  },
  {
    request: 'PUT /api/v1/namespaces/default/configmaps/kube-root',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kube-root","resourceVersion":"abc"}}',
    answer: '404 NotFound: configmaps "kube-root" not found',
  },
  {
    request: 'PUT /api/v1/namespaces/default/configmaps/x/status',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}',
    answer: '404 NotFound: the server could not find the requested resource',
  },
  {
    request: 'PUT /apis/apps/v1/namespaces/default/deployments/nope/scale',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"nope"},"spec":{"replicas":-1}}',
    answer: '404 NotFound: deployments.apps "nope" not found',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    body: '{}',
    answer: '415 UnsupportedMediaType: 415: Unsupported Media Type',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json' },
    body: '{}',
    answer: '415 UnsupportedMediaType: 415: Unsupported Media Type',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json-patch+json' },
    body: '{}',
    answer:
      '400 BadRequest: error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json-patch+json' },
    body: '[{"op":"nope","path":"/a"}]',
    answer: '422 Invalid: the server rejected our request due to an error in our request',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json-patch+json' },
    body: '[{"op":"add","path":"a","value":1}]',
    answer: '422 Invalid: the server rejected our request due to an error in our request',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json-patch+json' },
    body: '[{"op":"add","value":1}]',
    answer: '422 Invalid: the server rejected our request due to an error in our request',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json-patch+json' },
    body: 'nope',
    answer: "400 BadRequest: error decoding patch: invalid character 'o' in literal null (expecting 'u')",
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: 'nope',
    answer: "400 BadRequest: error decoding patch: invalid character 'o' in literal null (expecting 'u')",
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '[]',
    answer:
      '400 BadRequest: error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: 'null',
    answer: '400 BadRequest: Invalid JSON Patch',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '{"metadata":{"name":"y"}}',
    answer: '400 BadRequest: the name of the object (y) does not match the name on the URL (target)',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '{"metadata":{"resourceVersion":"abc"}}',
    answer: '500 : strconv.ParseUint: parsing "abc": invalid syntax',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '{"metadata":{"resourceVersion":"1"}}',
    answer:
      '409 Conflict: Operation cannot be fulfilled on configmaps "target": the object has been modified; please apply your changes to the latest version and try again',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '{"metadata":{"uid":"abc"}}',
    answer: '422 Invalid: ConfigMap "target" is invalid: metadata.uid: Invalid value: "abc": field is immutable',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    body: 'nope',
    answer: "400 BadRequest: invalid character 'o' in literal null (expecting 'u')",
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    body: '{"$patch":"nope"}',
    answer: '500 : unknown patch type: nope in map: map[$patch:nope]',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    body: '{"metadata":{"ownerReferences":[{"name":"x"}]}}',
    answer:
      '422 Invalid: ConfigMap "target" is invalid: [metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty, metadata.ownerReferences.kind: Invalid value: "": kind must not be empty, metadata.ownerReferences.uid: Invalid value: "": uid must not be empty]',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    body: '{"data":"x"}',
    answer: '422 Invalid:  "" is invalid: patch: Invalid value: "map[data:x]": cannot restore map from string',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: 'nope',
    answer:
      '422 Invalid: PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"target"}}',
    answer:
      '422 Invalid: PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/apply-patch+cbor' },
    body: 'x',
    answer: '415 UnsupportedMediaType: 415: Unsupported Media Type',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json-patch+json' },
    body: '[{"op":"test","path":"/metadata/name","value":"z"}]',
    answer: '422 Invalid: the server rejected our request due to an error in our request',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json-patch+json' },
    body: '[{"op":"remove","path":"/data/none"}]',
    answer: '422 Invalid: the server rejected our request due to an error in our request',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json-patch+json' },
    body: '[{"op":"replace","path":"/data/none","value":"1"}]',
    answer: '200',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json-patch+json' },
    body: '[{"op":"move","from":"/nope","path":"/data/x"}]',
    answer: '422 Invalid: the server rejected our request due to an error in our request',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target?fieldManager=m',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: '{"metadata":{"name":"target"}}',
    answer: '400 BadRequest: invalid object type: /, Kind=',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target?fieldManager=m',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"target"}}',
    answer: '400 BadRequest: invalid object type: /v1, Kind=Secret',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target?fieldManager=m',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"target","managedFields":[{"manager":"x"}]}}',
    answer: '400 BadRequest: metadata.managedFields must be nil',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target?fieldManager=m',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"target"},"nope":1}',
    answer:
      '500 : failed to create typed patch object (/target; /v1, Kind=ConfigMap): .nope: field not declared in schema',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target?fieldManager=m',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"target"},"data":{"a":1}}',
    answer:
      '500 : failed to create typed patch object (/target; /v1, Kind=ConfigMap): .data.a: expected string, got &value.valueUnstructured{Value:1}',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target?fieldManager=other',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"target"},"data":{"a":"theirs"}}',
    answer: '409 Conflict: Apply failed with 1 conflict: conflict with "unknown" using v1: .data.a',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target?fieldManager=m&force=x',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"target"}}',
    answer: '200',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target?fieldManager=m',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"target","uid":"nope"}}',
    answer: '422 Invalid: ConfigMap "target" is invalid: metadata.uid: Invalid value: "nope": field is immutable',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target?fieldManager=m',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"target","ownerReferences":[{"uid":"a","name":"a","kind":"Pod","apiVersion":"v1"},{"uid":"a","name":"a","kind":"Pod","apiVersion":"v1"}]}}',
    answer:
      '500 : failed to create typed patch object (/target; /v1, Kind=ConfigMap): .metadata.ownerReferences: duplicate entries for key [uid="a"]',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/nope',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '{}',
    answer: '404 NotFound: configmaps "nope" not found',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '{}',
    answer: '405 MethodNotAllowed: the server does not allow this method on the requested resource',
  },
  {
    request: 'PATCH /api/v1/namespaces/default/configmaps/target?force=true',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '{}',
    answer:
      '422 Invalid: PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
  },
  {
    request: 'PATCH /apis/apps/v1/namespaces/default/deployments/nope',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '{}',
    answer: '404 NotFound: deployments.apps "nope" not found',
  },
  { request: 'DELETE /api/v1/namespaces/default/configmaps/nope', answer: '404 NotFound: configmaps "nope" not found' },
  {
    request: 'DELETE /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json' },
    body: 'nope',
    answer: "500 : couldn't get version/kind; json parse error: invalid character 'o' in literal null (expecting 'u')",
  },
  {
    request: 'DELETE /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMap"}',
    answer: '500 : no kind "ConfigMap" is registered for version "v1" in scheme "pkg/runtime/scheme.go:110"',
  },
  {
    request: 'DELETE /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json' },
    body: '{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Nope"}',
    answer:
      '422 Invalid: DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Nope": supported values: "Foreground", "Background", "Orphan", "nil"',
  },
  {
    request: 'DELETE /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json' },
    body: '{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Orphan","orphanDependents":true}',
    answer:
      '422 Invalid: DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
  },
  {
    request: 'DELETE /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json' },
    body: '{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":-5}',
    answer: '200',
  },
  {
    request: 'DELETE /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json' },
    body: '{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"x"}}',
    answer: '404 NotFound: configmaps "target" not found',
  },
  {
    request: 'DELETE /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json' },
    body: '{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"resourceVersion":"1"}}',
    answer: '404 NotFound: configmaps "target" not found',
  },
  {
    request: 'DELETE /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json' },
    body: '{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["Nope"]}',
    answer:
      '422 Invalid: DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: []string{"Nope"}: supported values: "All"',
  },
  {
    request: 'DELETE /api/v1/namespaces/default/configmaps/target',
    headers: { 'content-type': 'application/json' },
    body: '{"kind":"DeleteOptions","apiVersion":"v1","ignoreStoreReadErrorWithClusterBreakingPotential":true}',
    answer: '404 NotFound: configmaps "target" not found',
  },
  {
    request: 'DELETE /api/v1/namespaces/default/configmaps/target?propagationPolicy=Nope',
    answer:
      '422 Invalid: DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Nope": supported values: "Foreground", "Background", "Orphan", "nil"',
  },
  {
    request: 'DELETE /api/v1/namespaces/default/configmaps/target?gracePeriodSeconds=x',
    answer: '400 BadRequest: strconv.ParseInt: parsing "x": invalid syntax',
  },
  {
    request: 'DELETE /api/v1/namespaces/default/configmaps/target?orphanDependents=x',
    answer: '404 NotFound: configmaps "target" not found',
  },
  {
    request: 'DELETE /api/v1/namespaces/default/configmaps/target?dryRun=Nope',
    answer:
      '422 Invalid: DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: []string{"Nope"}: supported values: "All"',
  },
  {
    request: 'DELETE /api/v1/namespaces/default/configmaps?labelSelector=a%3D%3D%3D',
    answer: "400 BadRequest: unable to parse requirement: found '=', expected: identifier",
  },
  {
    request: 'DELETE /api/v1/namespaces/kube-system?dryRun=All',
    answer: '403 Forbidden: namespaces "kube-system" is forbidden: this namespace may not be deleted',
  },
  {
    request: 'DELETE /api/v1/namespaces',
    answer: '405 MethodNotAllowed: the server does not allow this method on the requested resource',
  },
  {
    request: 'DELETE /api/v1/services',
    answer: '405 MethodNotAllowed: the server does not allow this method on the requested resource',
  },
  {
    request: 'OPTIONS /api/v1/namespaces/default/configmaps',
    answer: '405 MethodNotAllowed: the server does not allow this method on the requested resource',
  },
  {
    request: 'TRACE /api/v1/namespaces/default/configmaps',
    answer: '405 MethodNotAllowed: the server does not allow this method on the requested resource',
  },
  { request: 'POST /healthz', headers: { 'content-type': 'application/json' }, body: '{}', answer: '200' },
  {
    request: 'DELETE /version',
    answer: '405 MethodNotAllowed: the server does not allow this method on the requested resource',
  },
  {
    request: 'POST /api',
    headers: { 'content-type': 'application/json' },
    body: '{}',
    answer: '405 MethodNotAllowed: the server does not allow this method on the requested resource',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps',
    headers: { 'impersonate-group': 'a' },
    answer:
      '500 Internal Server Error: "/api/v1/namespaces/default/configmaps": requested [{Group  a    }] without impersonating a user',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps',
    headers: { 'impersonate-user': 'nobody' },
    answer:
      '403 Forbidden: configmaps is forbidden: User "nobody" cannot list resource "configmaps" in API group "" in the namespace "default"',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps',
    headers: { 'impersonate-uid': 'x' },
    answer:
      '500 Internal Server Error: "/api/v1/namespaces/default/configmaps": requested [{UID  x  authentication.k8s.io/v1  }] without impersonating a user',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps',
    headers: { 'impersonate-extra-a': 'x' },
    answer:
      '500 Internal Server Error: "/api/v1/namespaces/default/configmaps": requested [{UserExtra  x  authentication.k8s.io/v1  a}] without impersonating a user',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps',
    headers: { 'impersonate-user': 'system:serviceaccount:a' },
    answer:
      '403 Forbidden: configmaps is forbidden: User "system:serviceaccount:a" cannot list resource "configmaps" in API group "" in the namespace "default"',
  },
  {
    request: 'POST /api/v1/namespaces/default/pods/nope/binding',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"Binding","metadata":{"name":"nope"},"target":{"name":"n"}}',
    answer: '404 NotFound: pods "nope" not found',
  },
  {
    request: 'POST /api/v1/namespaces/default/pods/nope/binding',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"Binding","metadata":{"name":"nope"}}',
    answer: '500 : target.name: Required value',
  },
  {
    request: 'POST /api/v1/namespaces/default/pods/nope/eviction',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"nope"}}',
    answer: '404 NotFound: pods "nope" not found',
  },
  {
    request: 'POST /api/v1/namespaces/default/pods/nope/eviction',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"other"}}',
    answer: '400 BadRequest: name in URL does not match name in Eviction object',
  },
  {
    request: 'POST /api/v1/namespaces/default/serviceaccounts/nope/token',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}',
    answer: '404 NotFound: serviceaccounts "nope" not found',
  },
  {
    request: 'POST /api/v1/namespaces/default/serviceaccounts/nope/token',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":5}}',
    answer: '404 NotFound: serviceaccounts "nope" not found',
  },
  {
    request: 'POST /apis/authorization.k8s.io/v1/subjectaccessreviews',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{}}',
    answer:
      '422 Invalid: .authorization.k8s.io "" is invalid: [spec.resourceAttributes: Invalid value: "null": exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: "": at least one of user or group must be specified]',
  },
  {
    request: 'POST /apis/authentication.k8s.io/v1/tokenreviews',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{}}',
    answer: '400 BadRequest: token is required for TokenReview in authentication',
  },
  {
    request: 'POST /api/v1/namespaces/default/pods/nope/exec?command=x',
    headers: { 'content-type': 'application/json' },
    body: '',
    answer: '404 NotFound: pods "nope" not found',
  },
  {
    request: 'GET /api/v1/namespaces/default/pods/nope/log?tailLines=-1',
    answer:
      '422 Invalid: PodLogOptions "nope" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
  },
  {
    request: 'GET /api/v1/namespaces/default/pods/nope/log?sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z',
    answer:
      '422 Invalid: PodLogOptions "nope" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
  },
  {
    request: 'GET /apis/apps/v1/namespaces/default/deployments/nope/scale',
    answer: '404 NotFound: deployments.apps "nope" not found',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"ConfigMapList","items":[]}',
    answer:
      '400 BadRequest: ConfigMapList in version "v1" cannot be handled as a ConfigMap: converting (v1.ConfigMapList) to (core.ConfigMap): unknown conversion',
  },
  {
    request: 'POST /api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"v1","kind":"Status"}',
    answer:
      '400 BadRequest: Status in version "v1" cannot be handled as a ConfigMap: converting (v1.Status) to (core.ConfigMap): unknown conversion',
  },
  {
    request: 'POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"wrong"},"spec":{"group":"g.io","names":{"plural":"as","kind":"A"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}',
    answer:
      '422 Invalid: CustomResourceDefinition.apiextensions.k8s.io "wrong" is invalid: metadata.name: Invalid value: "wrong": must be spec.names.plural+"."+spec.group',
  },
  {
    request: 'GET /api/v1/namespaces/default/configmaps/../pods',
    answer: '404 NotFound: the server could not find the requested resource',
  },
  { request: 'GET /api/v1/namespaces/default/configmaps', headers: { range: 'bytes=0-1' }, answer: '200' },
];

describe('a malformed request', () => {
  let server: TestServer & Listening;
  let ask: ReturnType<typeof rawRequests>;
  before(async () => {
    server = await startTestServer({ https: true });
    ask = rawRequests(server);
    const target = { metadata: { name: 'target', namespace: 'default' }, data: { a: 'b' } };
    await server.client.create(configMap, target, { fieldManager: 'unknown' });
  });
  after(async () => {
    ask.close();
    await server.close();
  });

  for (const { request, headers, body, answer } of rows) {
    test(nameOf(request, headers, body), async () => {
      const [method = '', path = ''] = request.split(' ');
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const given = await ask(path, { method, headers: { ...headers, ...length }, ...(body ? { body } : {}) });
      assert.equal(formatResponse(given), answer);
      const isStored = given.code === 201 && !path.includes('dryRun');
      if (isStored) await server.client.delete(configMap, { name: 'x', namespace: 'default' });
    });
  }
});

function nameOf(request: string, headers: Row['headers'] = {}, body = ''): string {
  return [request, ...Object.values(headers), body].join(' ').trim().slice(0, 200);
}

/** Formats the code and the Status, without parts that vary between runs. */
function formatResponse({ code, text, headers }: RawResponse): string {
  if (code < 300) return String(code);
  if (!headers['content-type']?.startsWith('application/json')) return `${code} ${text.trim()}`;
  const { reason = '', message } = JSON.parse(text);
  return `${code} ${reason}: ${message}`
    .replace(/current: \d+/, 'current: N')
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID');
}
