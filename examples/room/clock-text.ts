/** 1:02:03, or 2:03. */
export function clockText(seconds: number): string {
  const whole = Math.floor(seconds)
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60]
  const ends = [minutes, whole % 60].map((part, i) =>
    i === 0 && hours === 0 ? String(part) : String(part).padStart(2, '0'),
  )
  return [...(hours > 0 ? [String(hours)] : []), ...ends].join(':')
}
