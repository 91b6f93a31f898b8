using System.IO;
using UnrealBuildTool;

// Links libambit_client from ThirdParty/lib/PLATFORM; the README says what goes there.
public class AmbitClient : ModuleRules
{
    public AmbitClient(ReadOnlyTargetRules Target) : base(Target)
    {
        PCHUsage = PCHUsageMode.UseExplicitOrSharedPCHs;
        PublicDependencyModuleNames.AddRange(new[] { "Core", "CoreUObject", "Engine" });

        string ThirdParty = Path.Combine(PluginDirectory, "ThirdParty");
        string Libraries = Path.Combine(ThirdParty, "lib", Target.Platform.ToString());
        PublicSystemIncludePaths.Add(Path.Combine(ThirdParty, "include"));

        if (Target.Platform == UnrealTargetPlatform.Win64)
        {
            PublicAdditionalLibraries.Add(Path.Combine(Libraries, "ambit_client.dll.lib"));
            PublicDelayLoadDLLs.Add("ambit_client.dll");
            RuntimeDependencies.Add("$(BinaryOutputDir)/ambit_client.dll",
                Path.Combine(Libraries, "ambit_client.dll"));
        }
        else
        {
            string Extension = Target.Platform == UnrealTargetPlatform.Mac ? "dylib" : "so";
            string Library = Path.Combine(Libraries, "libambit_client." + Extension);
            PublicAdditionalLibraries.Add(Library);
            RuntimeDependencies.Add(Library);
        }
    }
}
