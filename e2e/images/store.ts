/** Store of images on disk, in the OCI image layout: blobs by digest, and an index of names. */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { runTool } from './tool.ts';

/** Settings of an image's containers, named as in the OCI image configuration. */
export type ImageConfig = {
  readonly Cmd?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Env?: readonly string[];
  readonly User?: string;
  readonly WorkingDir?: string;
  readonly Labels?: { readonly [key: string]: string };
  readonly ExposedPorts?: { readonly [port: string]: object };
};

/** An image to store: its names and its layers, which are tar files. */
export type ImageParts = {
  readonly names: readonly string[];
  readonly layers: readonly string[];
  readonly config: ImageConfig;
};

type Descriptor = {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly annotations?: { readonly [key: string]: string };
};

type Index = { readonly schemaVersion: 2; readonly mediaType: string; readonly manifests: readonly Descriptor[] };

export type ImageStore = {
  readonly folder: string;
  /** Returns the digest of a name's manifest; undefined if the store does not have the image. */
  digestOf(name: string): string | undefined;
  names(): readonly string[];
  blob(digest: string): string | undefined;
  /** Stores an image under each of its names. */
  add(parts: ImageParts): void;
  /** Writes an archive with the named images. */
  writeArchive(names: readonly string[], file: string): void;
};

const indexType = 'application/vnd.oci.image.index.v1+json';
export const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const nameAnnotation = 'io.containerd.image.name';

/** Opens the store of a folder, which is created if it does not exist. */
export function openImageStore(folder: string): ImageStore {
  const blobs = join(folder, 'blobs', 'sha256');
  mkdirSync(blobs, { recursive: true });
  const indexFile = join(folder, 'index.json');
  const empty: Index = { schemaVersion: 2, mediaType: indexType, manifests: [] };
  const readIndex = (): Index => (existsSync(indexFile) ? JSON.parse(readFileSync(indexFile, 'utf8')) : empty);
  const nameOf = ({ annotations }: Descriptor) => annotations?.[nameAnnotation] ?? '';
  const pathOf = (digest: string) => join(blobs, digest.replace(/^sha256:/, ''));
  writeFileSync(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));

  function addJson(mediaType: string, value: object): Descriptor {
    const content = Buffer.from(JSON.stringify(value));
    const digest = digestOfContent(content);
    writeFileSync(pathOf(digest), content);
    return { mediaType, digest, size: content.length };
  }

  function addLayer(file: string): Descriptor {
    const content = readFileSync(file);
    const digest = digestOfContent(content);
    if (!existsSync(pathOf(digest))) copyFileSync(file, pathOf(digest));
    return { mediaType: 'application/vnd.oci.image.layer.v1.tar', digest, size: content.length };
  }

  function digestsOf(manifest: Descriptor): readonly string[] {
    const { config, layers } = JSON.parse(readFileSync(pathOf(manifest.digest), 'utf8'));
    return [manifest, config, ...layers].map(({ digest }: Descriptor) => digest);
  }

  return {
    folder,
    digestOf: (name) => readIndex().manifests.find((each) => nameOf(each) === name)?.digest,
    names: () => readIndex().manifests.map(nameOf),
    blob: (digest) => (/^sha256:[0-9a-f]{64}$/.test(digest) && existsSync(pathOf(digest)) ? pathOf(digest) : undefined),
    add({ names, layers, config }) {
      const stored = layers.map(addLayer);
      const configuration = addJson('application/vnd.oci.image.config.v1+json', {
        architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
        os: 'linux',
        config: { Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'], ...config },
        rootfs: { type: 'layers', diff_ids: stored.map(({ digest }) => digest) },
      });
      const manifest = addJson(manifestType, {
        schemaVersion: 2,
        mediaType: manifestType,
        config: configuration,
        layers: stored,
      });
      const index = readIndex();
      const manifests = [
        ...index.manifests.filter((each) => !names.includes(nameOf(each))),
        ...names.map((name) => ({ ...manifest, annotations: { [nameAnnotation]: name } })),
      ];
      writeFileSync(indexFile, JSON.stringify({ ...index, manifests }));
    },
    writeArchive(names, file) {
      const manifests = names.map((name) => {
        const found = readIndex().manifests.find((each) => nameOf(each) === name);
        if (!found) throw new Error(`the image ${name} has not been built: node e2e/images/build.ts ${name}`);
        return found;
      });
      const draft = mkdtempSync(join(folder, 'archive-'));
      try {
        mkdirSync(join(draft, 'blobs', 'sha256'), { recursive: true });
        writeFileSync(join(draft, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
        writeFileSync(join(draft, 'index.json'), JSON.stringify({ ...empty, manifests }));
        for (const digest of new Set(manifests.flatMap(digestsOf))) {
          linkSync(pathOf(digest), join(draft, 'blobs', 'sha256', digest.slice('sha256:'.length)));
        }
        mkdirSync(dirname(file), { recursive: true });
        runTool('tar', ['--sort=name', '-C', draft, '-cf', file, '.']);
      } finally {
        rmSync(draft, { recursive: true });
      }
    },
  };
}

function digestOfContent(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
