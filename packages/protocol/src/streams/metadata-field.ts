/** A field of a stream's metadata, unchecked; undefined when the metadata is no JSON object with such a field. */
export function metadataField(metadata: string, field: string): unknown {
  try {
    const fields: unknown = JSON.parse(metadata)
    const isObject = typeof fields === 'object' && fields !== null
    return isObject && Object.hasOwn(fields, field) ? (fields as Record<string, unknown>)[field] : undefined
  } catch {
    return undefined
  }
}
