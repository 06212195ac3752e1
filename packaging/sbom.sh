#!/bin/sh
# usage: packaging/sbom.sh VERSION PROGRAM >SBOM.spdx    what PROGRAM is linked with, and what the
# wheel has inside, by Debian's packages: SPDX 2.3, tag-value. SPDX-License-Identifier: MIT
set -eu
version=$1 program=$2
date=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%Y-%m-%dT%H:%M:%SZ)
cat <<END
SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: livestereo-$version
DocumentNamespace: https://github.com/livestereo/livestereo/sbom/$version
Creator: Tool: packaging/sbom.sh
Created: $date

PackageName: livestereo
SPDXID: SPDXRef-livestereo
PackageVersion: $version
PackageDownloadLocation: NOASSERTION
PackageLicenseDeclared: MIT
END
# Libraries as the loader finds them, and libyaml, which wheels contain.
{ readelf -d "$program" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p'; echo libyaml-0.so.2; } | sort -u |
    while read -r library; do
        path=$(ldconfig -p | sed -n "s,.*\t*$library .*=> ,,p" | head -n 1)
        package=$(dpkg -S "$(realpath "$path")" 2>/dev/null | head -n 1 | cut -d: -f1) || continue
        [ -n "$package" ] || continue
        dpkg-query -W -f "$package \${Version} \${Homepage}\n" "$package" | head -n 1
    done | sort -u | while read -r package number home; do
        id=$(echo "$package" | tr -c 'A-Za-z0-9.\n' -)
        printf '\nPackageName: %s\nSPDXID: SPDXRef-%s\n' "$package" "$id"
        printf 'PackageVersion: %s\n' "$number"
        printf 'PackageDownloadLocation: NOASSERTION\nPackageHomePage: %s\n' "${home:-NOASSERTION}"
        printf 'PackageLicenseDeclared: NOASSERTION\n'
        printf 'Relationship: SPDXRef-livestereo DEPENDS_ON SPDXRef-%s\n' "$id"
    done
