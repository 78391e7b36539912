import { type Readable, Transform } from 'node:stream';
import { createDeflateRaw, createGunzip, createGzip, createInflateRaw } from 'node:zlib';
import type { BackendResponse } from './backend.ts';

/** Attributes that contain a URL, by HTML element. */
const attributes: { readonly [element: string]: readonly string[] } = {
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['src', 'usemap', 'formaction'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
};

/** Elements whose content is raw text rather than HTML. */
const rawElements: { readonly [element: string]: RegExp } = {
  script: /<\/script/i,
  style: /<\/style/i,
  textarea: /<\/textarea/i,
  title: /<\/title/i,
};
/** Length of the longest end tag. */
const longestEnd = '</textarea'.length;
const commentEnd = /-->/;
const elementName = /^<([a-z][^\s/>]*)/i;
const attribute = /(\s)([a-z]+)(\s*=\s*)(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi;
/** Maximum length of a tag; longer text without an end is no tag. */
const maxTagLength = 64 * 1024;

const codecs = {
  gzip: { decode: createGunzip, encode: createGzip },
  deflate: { decode: createInflateRaw, encode: createDeflateRaw },
};

/** Rewrites the links of an HTML page while streaming. Pages with an unknown encoding are not changed. */
export function rewriteLinks(
  { body, headers }: BackendResponse,
  rewrite: (url: string) => string,
): Pick<BackendResponse, 'body' | 'headers'> {
  const encoding = headers['content-encoding'] ?? '';
  const { 'content-length': _, ...rest } = headers;
  const chain = (...steps: Transform[]): Readable =>
    steps.reduce<Readable>((from, to) => {
      from.once('error', (error) => to.destroy(error));
      to.once('close', () => from.destroy());
      return from.pipe(to);
    }, body);
  if (encoding === '') return { body: chain(linkRewriter(rewrite)), headers: rest };
  if (encoding !== 'gzip' && encoding !== 'deflate') return { body, headers };
  const { decode, encode } = codecs[encoding];
  return { body: chain(decode(), linkRewriter(rewrite), encode()), headers: rest };
}

/** Rewrites the URLs in the tags of an HTML page. The page is processed as bytes: all relevant characters are ASCII. */
export function linkRewriter(rewrite: (url: string) => string): Transform {
  let text = '';
  /** End of the current comment or script. */
  let rawEnd: RegExp | undefined;

  function step(last: boolean): string | undefined {
    if (text === '') return undefined;
    if (rawEnd) {
      const at = text.search(rawEnd);
      if (at >= 0) {
        rawEnd = undefined;
        return consume(at);
      }
      return last ? consume(text.length) : text.length > longestEnd ? consume(text.length - longestEnd) : undefined;
    }
    const at = text.indexOf('<');
    if (at !== 0) return consume(at < 0 ? text.length : at);
    if (text.length < 4 && !last) return undefined;
    if (text.startsWith('<!--')) {
      rawEnd = commentEnd;
      return consume(4);
    }
    if (!/^<[a-z]/i.test(text)) return consume(1);
    const end = tagEnd(text);
    // Searching for a tag at every possible start would take quadratic time.
    if (end < 0) return last || text.length > maxTagLength ? consume(text.length) : undefined;
    const tag = consume(end);
    const element = elementName.exec(tag)![1]!.toLowerCase();
    rawEnd = Object.hasOwn(rawElements, element) ? rawElements[element] : undefined;
    return changed(element, tag);
  }

  function consume(length: number): string {
    const taken = text.slice(0, length);
    text = text.slice(length);
    return taken;
  }

  function changed(element: string, tag: string): string {
    const names = Object.hasOwn(attributes, element) ? attributes[element]! : [];
    if (names.length === 0) return tag;
    return tag.replace(attribute, (whole, space, name, equals, double, single, bare) => {
      if (!names.includes(name.toLowerCase())) return whole;
      const url = fromHtml(double ?? single ?? bare);
      const rewritten = rewrite(url);
      return rewritten === url ? whole : `${space}${name}${equals}"${toHtml(rewritten)}"`;
    });
  }

  function processBuffered(stream: Transform, last: boolean): void {
    for (let piece = step(last); piece !== undefined; piece = step(last)) stream.push(Buffer.from(piece, 'latin1'));
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      text += chunk.toString('latin1');
      processBuffered(this, false);
      callback();
    },
    flush(callback) {
      processBuffered(this, true);
      callback();
    },
  });
}

/** Returns the end of the tag that a text starts with, ignoring quoted text; negative if the end is not in the text. */
function tagEnd(text: string): number {
  const sign = /["'>]/g;
  for (let found = sign.exec(text); found; found = sign.exec(text)) {
    if (found[0] === '>') return found.index + 1;
    const close = text.indexOf(found[0], found.index + 1);
    if (close < 0) return -1;
    sign.lastIndex = close + 1;
  }
  return -1;
}

function fromHtml(value: string): string {
  return value.replace(/&#34;|&quot;/g, '"').replace(/&amp;/g, '&');
}

function toHtml(value: string): string {
  return value.replace(/&/g, '&amp;').replace(/"/g, '&#34;');
}
