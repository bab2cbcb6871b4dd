"""Make src/babelquake/report/assets/vega.js.gz: Vega, Vega-Lite and Vega-Embed as one script, taken from vl-convert.

    python scripts/make_vega_bundle.py

vl-convert carries these libraries (BSD-3-Clause, see NOTICE) and bundles them in several seconds; a report should not
wait for that, so the bundle ships.
"""

import gzip
from pathlib import Path

import vl_convert

from babelquake.report.images import VEGA_LITE

ASSETS = Path(__file__).resolve().parents[1] / "src" / "babelquake" / "report" / "assets"


def main() -> None:
    script = (
        vl_convert.javascript_bundle(vl_version=VEGA_LITE).replace("</script", r"<\/script").replace("<!--", r"<\!--")
    )
    ASSETS.mkdir(exist_ok=True)
    (ASSETS / "vega.js.gz").write_bytes(gzip.compress(script.encode(), 9, mtime=0))
    vega, embed = vl_convert.get_vega_version(), vl_convert.get_vega_embed_version()
    print(f"Vega {vega}, Vega-Lite {VEGA_LITE}, Vega-Embed {embed}: {len(script):,} characters")


if __name__ == "__main__":
    main()
