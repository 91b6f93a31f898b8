/** How much the graphics of this machine can do. */

/** What the player may set in `localStorage`: `full` draws everything whatever the machine. */
const GRAPHICS_KEY = "ambit-graphics";
/** Browsers on machines without a graphics card, and what draws there. */
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** Whether to draw what is cheap only: without a graphics card each pixel counts. */
export function isCheap(): boolean {
  return !wantsAll() && drawsInSoftware();
}

/** Whether the player wants everything, at whatever pace. */
export function wantsAll(): boolean {
  try {
    return localStorage.getItem(GRAPHICS_KEY) === "full";
  } catch {
    // A browser may refuse the page its storage.
    return false;
  }
}

/** If there is no WebGL at all, the real context says so. */
function drawsInSoftware(): boolean {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (!context) return true;
  // A Chromium with the flag for SwiftShader does not count that as a caveat.
  const isSoftware = SOFTWARE.test(rendererOf(context));
  // Browsers allow a page some contexts only, and collect garbage late.
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return isSoftware;
}

function rendererOf(context: WebGL2RenderingContext): string {
  const name = String(context.getParameter(context.RENDERER));
  // Firefox says it here, and warns of the extension; Chromium says it by the extension only.
  if (!name.startsWith("WebKit")) return name;
  const details = context.getExtension("WEBGL_debug_renderer_info");
  return details ? String(context.getParameter(details.UNMASKED_RENDERER_WEBGL)) : name;
}
